-- prelude.lua: the words that scripts are written in, embedded in the binary and run before every script.
--
-- Returns a module: `spec` and `strategy` are the words a specification and a strategy see as globals; the rest is for
-- the host (strategy_load.c) and the tests. Words only check and tag tables: a tagged table is a shallow copy of the
-- one given with its kind under the key "tag", so that fragments may be shared. Positions in messages are the caller's.

local M = { spec = {}, strategy = {} }

local function describe(v)
  if type(v) == "string" then return string.format("the string %q", v) end
  if type(v) == "number" or type(v) == "boolean" then return tostring(v) end
  if v == nil then return "nothing" end
  return "a " .. type(v)
end

local function tag_table(tag, fields)
  if type(fields) ~= "table" then
    error(string.format("%s takes a table, %s { ... }, but was given %s", tag, tag, describe(fields)), 3)
  end
  if fields.tag ~= nil then
    error(string.format("%s: the table is already a %s; the key \"tag\" is kept for that", tag,
                        tostring(fields.tag)), 3)
  end
  local copy = {}
  for k, v in pairs(fields) do copy[k] = v end
  copy.tag = tag
  return copy
end

-- Specifications ------------------------------------------------------------------------------------------------------

for _, tag in ipairs { "problem", "space", "launch", "gemm", "kernel", "tensor_map" } do
  M.spec[tag] = function(fields)
    local tagged = tag_table(tag, fields)
    return tagged
  end
end

local function formula(what, v, level)
  if type(v) ~= "number" and type(v) ~= "string" then
    error(string.format("%s: a number or a formula was expected, but was given %s", what, describe(v)), level + 1)
  end
  return v
end

-- uniform(low, high) and normal(mean, deviation): how a tensor is filled
for _, tag in ipairs { "uniform", "normal" } do
  M.spec[tag] = function(a, b, ...)
    if select("#", ...) > 0 then error(tag .. " takes two arguments", 2) end
    return { tag = tag, formula(tag, a, 2), formula(tag, b, 2) }
  end
end

-- i64("M * N"): the type in which a launch passes an argument
for _, tag in ipairs { "i32", "i64", "f32", "f64" } do
  M.spec[tag] = function(x, ...)
    if type(x) == "table" and #x == 1 then x = x[1] end
    if select("#", ...) > 0 then error(tag .. " takes one argument", 2) end
    return { tag = tag, formula(tag, x, 2) }
  end
end

local given, settings = {}, {}      -- by name: the value from the command line; the values that there are

-- setting { "type", { "f32", "f16" } }: the value that --set type=... gives, or the first; the same for all that ask
function M.spec.setting(t)
  local name, values = type(t) == "table" and t[1], type(t) == "table" and t[2]
  if type(name) ~= "string" or not name:find("^[%a_][%w_]*$") or type(values) ~= "table" or #values == 0 or #t > 2 then
    error('setting: write setting { "name", { "value", "other value" } }', 2)
  end
  for key in pairs(t) do
    if math.type(key) ~= "integer" then error(string.format("setting %s: unknown key '%s'", name, tostring(key)), 2) end
  end
  local there, count = {}, 0
  for _ in pairs(values) do count = count + 1 end
  for i = 1, count do
    local value = values[i]
    if type(value) ~= "string" or not value:find("^[%w_.+-]+$") then
      error(string.format("setting %s: value %d must be a text of letters, digits and _.+-", name, i), 2)
    end
    if there[value] then error(string.format("setting %s: the value '%s' is there already", name, value), 2) end
    there[value] = true
  end
  local list = table.concat(values, ", ")
  if settings[name] and settings[name] ~= list then
    error(string.format("setting %s: has the values %s elsewhere, and here %s", name, settings[name], list), 2)
  end
  settings[name] = list
  if not given[name] then return values[1] end
  for _, value in ipairs(values) do
    if value == given[name] then return value end
  end
  error(string.format("--set %s=%s: %s is one of %s", name, given[name], name, settings[name]), 0)
end

-- Before the specification runs: what --set says, a list of "name=value".
function M.give(list)
  for _, text in ipairs(list) do
    local name, value = text:match("^([^=]+)=(.+)$")
    if not name then error(string.format("--set: '%s' is not a name and a value, NAME=VALUE", text), 0) end
    if given[name] then error(string.format("--set: %s is given twice", name), 0) end
    given[name] = value
  end
end

-- After it: whether something was given that it never asked for.
function M.check_given()
  local known, names, unknown = {}, {}, nil
  for name, values in pairs(settings) do
    names[#names + 1] = name
    known[#known + 1] = string.format("%s (%s)", name, values)
  end
  table.sort(known)
  table.sort(names)
  for name in pairs(given) do
    if not settings[name] and (not unknown or name < unknown) then unknown = name end
  end
  if unknown then
    local near = M.nearest and M.nearest(unknown, names)
    error(string.format("--set: there is no setting '%s'%s; %s", unknown,
                        near and " (did you mean '" .. near .. "'?)" or "",
                        #known > 0 and "there are: " .. table.concat(known, "; ") or "this specification has none"), 0)
  end
end

-- "type=f32|f16|bf16", a line for each that it asked for, by name
function M.settings_text()
  local lines = {}
  for name, values in pairs(settings) do lines[#lines + 1] = name .. "=" .. values:gsub(", ", "|") .. "\n" end
  table.sort(lines)
  return table.concat(lines)
end

-- Strategies ----------------------------------------------------------------------------------------------------------

local option_keys = {
  choice = { default = "string", help = "string" },
  integer = { default = "number", min = "number", max = "number", help = "string", parallel = "boolean",
              within = "string" },
  number = { default = "number", min = "number", max = "number", help = "string" },
  boolean = { default = "boolean", help = "string" },
}

local function keys_of(t)
  local names = {}
  for k in pairs(t) do names[#names + 1] = tostring(k) end
  table.sort(names)
  return table.concat(names, ", ")
end

-- What a text has that would end it in C, or drive a terminal; nil: nothing. Line ends and tabs may be in it.
local function odd_character(text)
  local at = text:find("[\0-\8\11-\31\127]")
  return at and string.format("has a control character, byte %d, at %d", text:byte(at), at)
end

-- Checks the named fields of an option; level is error()'s, counted from the option's constructor.
local function check_option(kind, option, level)
  for k, v in pairs(option) do
    local want = option_keys[kind][k]
    if k ~= "tag" and type(k) ~= "number" then
      if not want then
        error(string.format("%s: unknown field '%s'; known: %s", kind, tostring(k), keys_of(option_keys[kind])), level)
      elseif type(v) ~= want then
        error(string.format("%s: %s must be a %s, not %s", kind, k, want, describe(v)), level)
      elseif want == "string" and odd_character(v) then
        error(string.format("%s: %s %s", kind, k, odd_character(v)), level)
      end
    end
  end
end

local function finite(v) return v == v and v ~= math.huge and v ~= -math.huge end

-- nil, or what is wrong with v as a value of the option
local function misfit(option, v)
  if option.tag == "choice" then
    for _, word in ipairs(option) do if word == v then return nil end end
    return "one of " .. table.concat(option, ", ")
  elseif option.tag == "boolean" then
    return type(v) ~= "boolean" and "true or false" or nil
  end
  local kind = option.tag == "integer" and "an integer" or "a number"
  local fits = type(v) == "number" and finite(v) and (option.tag ~= "integer" or math.type(v) == "integer")
  if fits and v >= (option.min or v) and v <= (option.max or v) then return nil end
  if option.min and option.max then return string.format("%s from %s to %s", kind, option.min, option.max) end
  if option.min then return string.format("%s of at least %s", kind, option.min) end
  if option.max then return string.format("%s of at most %s", kind, option.max) end
  return kind
end

local function make_option(kind, fields)
  local option = tag_table(kind, fields)
  check_option(kind, option, 4)
  if kind == "choice" then
    for i, word in ipairs(option) do
      if type(word) ~= "string" then error("choice: choice " .. i .. " must be a string, not " .. describe(word), 3) end
      if odd_character(word) then error("choice: choice " .. i .. " " .. odd_character(word), 3) end
    end
    if #option == 0 then error("choice: at least one string is needed", 3) end
    if option.default == nil then option.default = option[1] end
  else
    if #option > 1 or (#option == 1 and option.default ~= nil) then error(kind .. ": one default is enough", 3) end
    if option.default == nil then option.default = option[1] end
    if option.default == nil then
      error(string.format("%s: the default is missing; write %s { DEFAULT, ... }", kind, kind), 3)
    end
  end
  option.help = option.help or ""
  local wrong = misfit(option, option.default)
  if wrong then
    error(string.format("%s: the default is %s, but %s was expected", kind, describe(option.default), wrong), 3)
  end
  return option
end

for kind in pairs(option_keys) do
  M.strategy[kind] = function(fields)
    local option = make_option(kind, fields)
    return option
  end
end

local strategy_keys = { name = "string", summary = "string", options = "table", run = "function" }

local function check_strategy(s)
  for k, v in pairs(s) do
    local want = strategy_keys[k]
    if k ~= "tag" and not want then
      error(string.format("strategy: unknown field '%s'; known: %s", tostring(k), keys_of(strategy_keys)), 3)
    elseif k ~= "tag" and type(v) ~= want then
      error(string.format("strategy: %s must be a %s, not %s", k, want, describe(v)), 3)
    elseif want == "string" and odd_character(v) then
      error(string.format("strategy: %s %s", k, odd_character(v)), 3)
    end
  end
  if not s.name then error("strategy: name is missing", 3) end
  if not s.run then error("strategy: run is missing; write run = function(tune, space, opt) ... end", 3) end
  for name, option in pairs(s.options) do
    if type(name) ~= "string" or not name:find("^[%a_][%w_]*$") then
      error(string.format("strategy: an option needs a name, options = { NAME = integer { ... } }; got %s",
                          describe(name)), 3)
    elseif type(option) ~= "table" or not option_keys[option.tag] then
      error(string.format("strategy: option %s must be made by choice, integer, number or boolean, not %s", name,
                          describe(option)), 3)
    elseif option.within and (not s.options[option.within] or s.options[option.within].tag ~= "integer") then
      error(string.format("strategy: option %s: within = \"%s\" names no integer option", name, option.within), 3)
    end
  end
end

function M.strategy.strategy(fields)
  local s = tag_table("strategy", fields)
  s.summary = s.summary or ""
  s.options = s.options or {}
  check_strategy(s)
  return s
end

-- An iterator over 1 .. n in random order, each once. Its memory grows with the numbers drawn, not with n: it is the
-- Fisher-Yates shuffle on an array of which only the entries that differ from their index exist.
function M.strategy.shuffled(n)
  local moved, last = {}, n
  return function()
    if last < 1 then return nil end
    local k = math.random(last)
    local drawn = moved[k] or k
    moved[k] = moved[last] or last
    moved[last] = nil
    last = last - 1
    return drawn
  end
end

-- For the host --------------------------------------------------------------------------------------------------------

local function number_text(v)
  if math.type(v) ~= "float" then return tostring(v) end
  local short = string.format("%.14g", v)
  return tonumber(short) == v and short or string.format("%.17g", v)
end

local function read_value(option, text)
  if option.tag == "choice" then return text end
  if option.tag == "boolean" then
    if text == "true" then return true elseif text == "false" then return false end
    return nil
  end
  -- decimal only, as elsewhere on the command line: tonumber alone would take blanks around it and 0x10
  local v = text:find("^[-+]?%.?%d[%d.eE+-]*$") and tonumber(text)
  if not v then return nil end
  if option.tag == "integer" then return math.tointeger(v) end
  return v
end

local function sorted_names(options)
  local names = {}
  for name in pairs(options) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- ", did you mean 'x'?", by the host's M.nearest, which tests do without.
local function suggestion(word, words)
  local near = M.nearest and M.nearest(word, words)
  return near and string.format(" (did you mean '%s'?)", near) or ""
end

-- The compilers that a campaign on a device has, set by the host before scripts run. In a recording none compile.
M.compilers = 0

-- An option with `parallel = true` that is not given is no less than the compilers are, MOST_COMPILERS of them at most
-- since what is proposed at once is proposed without its results; and no more than the option that it is `within`.
local MOST_COMPILERS = 16

local function for_compilers(option, values)
  local n = math.min(M.compilers, MOST_COMPILERS, option.max or math.maxinteger)
  if option.within then n = math.min(n, values[option.within]) end
  return math.max(n, option.default)
end

-- The values of a strategy's options: its defaults, then what `given`, a list of "name=value", says, then what follows
-- from the compilers. Errors are for the command line and carry no position.
function M.resolve(s, given)
  local values, texts = {}, {}
  for name, option in pairs(s.options) do values[name] = option.default end
  for _, text in ipairs(given) do
    local name, value = text:match("^([^=]*)=(.*)$")
    if not name then error(string.format("option '%s': write NAME=VALUE", text), 0) end
    local option = s.options[name]
    if not option then
      local names = sorted_names(s.options)
      local known = table.concat(names, ", ")
      error(string.format("strategy %s has no option '%s'%s; %s", s.name, name, suggestion(name, names),
                          known == "" and "it has none" or "it has: " .. known), 0)
    end
    local v = read_value(option, value)
    local wrong = misfit(option, v)
    if wrong then
      error(string.format("option %s of strategy %s: %s was expected, got '%s'%s", name, s.name, wrong, value,
                          option.tag == "choice" and suggestion(value, option) or ""), 0)
    end
    if texts[name] then
      error(string.format("option %s of strategy %s is given twice: %s, and %s", name, s.name, texts[name], text), 0)
    end
    values[name], texts[name] = v, text
  end
  for name, option in pairs(s.options) do
    if option.parallel and not texts[name] then values[name] = for_compilers(option, values) end
  end
  return setmetatable(values, { __index = function(_, name)
    error(string.format("strategy %s has no option '%s'", s.name, tostring(name)), 2)
  end })
end

-- "batch=16 kind=hamming", by name
function M.options_text(values)
  local parts = {}
  for _, name in ipairs(sorted_names(values)) do
    local v = values[name]
    parts[#parts + 1] = name .. "=" .. (type(v) == "number" and number_text(v) or tostring(v))
  end
  return table.concat(parts, " ")
end

-- The declared options as rows of text, by name: for --help.
function M.describe_options(s)
  local rows = {}
  for _, name in ipairs(sorted_names(s.options)) do
    local o = s.options[name]
    local range = ""
    if o.tag == "choice" then range = table.concat(o, "|")
    elseif o.tag == "boolean" then range = "true|false"
    elseif o.min or o.max then
      range = (o.min and number_text(o.min) or "") .. ".." .. (o.max and number_text(o.max) or "")
    end
    local default = type(o.default) == "number" and number_text(o.default) or tostring(o.default)
    local more = o.parallel and "; on a device the compilers, if those are more" or ""
    rows[#rows + 1] = { name = name, type = o.tag, default = default, range = range, help = o.help .. more }
  end
  return rows
end

return M
