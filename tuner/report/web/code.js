/* code.js: C and CUDA text with its parts marked, and a button that copies it. */

const CODE_PARTS = new RegExp(
  [
    '(?<c>//[^\\n]*|/\\*[\\s\\S]*?\\*/)',
    '(?<s>"(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)+\')',
    '(?<p>^[ \\t]*#[ \\t]*\\w+)',
    '(?<d>\\b(?:0[xX][0-9a-fA-F]+|\\d+(?:\\.\\d*)?(?:[eE][-+]?\\d+)?)[fFuUlL]*\\b)',
    '(?<t>\\b(?:void|bool|char|short|int|long|float|double|unsigned|signed|size_t|u?int(?:8|16|32|64)_t|' +
      'float[234]|half2?|__half2?|__nv_bfloat16(?:2)?|dim3|cudaStream_t|cudaError_t|auto)\\b)',
    '(?<k>\\b(?:if|else|for|while|do|switch|case|default|break|continue|return|goto|struct|enum|union|typedef|' +
      'static|const|constexpr|inline|extern|volatile|template|typename|class|namespace|using|sizeof|asm|__asm__|' +
      '__global__|__device__|__host__|__shared__|__restrict__|__launch_bounds__|__forceinline__|__constant__|' +
      '__syncthreads|threadIdx|blockIdx|blockDim|gridDim)\\b)'
  ].join('|'),
  'gm'
)

function highlighted(text) {
  const out = document.createDocumentFragment()
  let at = 0
  for (const m of text.matchAll(CODE_PARTS)) {
    const kind = Object.keys(m.groups).find(k => m.groups[k] !== undefined)
    if (m.index > at) out.append(text.slice(at, m.index))
    out.append(h('span', { class: kind }, m[0]))
    at = m.index + m[0].length
  }
  out.append(text.slice(at))
  return out
}

/* NOTE: files have no clipboard API in some browsers; a selection and the old command work there. */
async function copyText(text, where) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch (_) {
    const range = document.createRange()
    range.selectNodeContents(where)
    getSelection().removeAllRanges()
    getSelection().addRange(range)
    return document.execCommand('copy')
  }
}

function codeBlock(text, name) {
  const pre = h('pre', { tabindex: '0', 'aria-label': name })
  pre.append(highlighted(text))
  const button = h(
    'button',
    {
      type: 'button',
      class: 'main',
      click: async () => {
        const done = await copyText(text, pre)
        button.textContent = done ? 'Copied' : 'Selected: press Ctrl-C'
        say(button.textContent)
        setTimeout(() => {
          button.textContent = 'Copy'
        }, 2000)
      }
    },
    'Copy'
  )
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'row' },
      button,
      h('span', { class: 'note' }, name + ', ' + plural(text.split('\n').length, 'line'))
    ),
    h(
      'p',
      { class: 'note print' },
      'Not printed: ' + plural(text.split('\n').length, 'line') + ', which `lathe export` writes.'
    ),
    pre
  )
}
