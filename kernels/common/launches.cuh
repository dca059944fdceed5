// launches.cuh: does what a launch passes fit what its kernel takes? Stands behind a source, before a line for each
// launch (tuner/model/signature.c), since only the compiler knows a kernel's signature, after macros, typedefs and #if.
// What does not fit is an error that names lathe_misfit or lathe_miscount, types without a definition; the tuner reads
// them there.
//
// Every name begins with lathe: the source's own macros are still in force.
namespace lathe_launches {

template <int lathe_step, int lathe_argument, class lathe_parameter> struct lathe_misfit;
template <int lathe_step, int lathe_parameters, class lathe_kernel> struct lathe_miscount;

template <bool lathe_is> struct lathe_answer { static constexpr bool lathe_fits = lathe_is; };

// ---- what a launch passes; beside these float, double and LatheEpilogue, each for a parameter of that very type
template <int lathe_bytes> struct lathe_integer;                // 4 or 8
template <class lathe_e> struct lathe_tensor;                   // the address of elements
struct lathe_memory;                                            // the address of bytes
struct lathe_map;                                               // the 128 bytes of a tensor map

// ---- a pointer's element, without the extents of an array, const and volatile
template <class lathe_t> struct lathe_flat { typedef lathe_t lathe_type; };
template <class lathe_t> struct lathe_flat<lathe_t[]> : lathe_flat<lathe_t> {};
template <class lathe_t, decltype(sizeof(int)) lathe_n> struct lathe_flat<lathe_t[lathe_n]> : lathe_flat<lathe_t> {};
template <class lathe_t> struct lathe_bare { typedef lathe_t lathe_type; };
template <class lathe_t> struct lathe_bare<const lathe_t> { typedef lathe_t lathe_type; };
template <class lathe_t> struct lathe_bare<volatile lathe_t> { typedef lathe_t lathe_type; };
template <class lathe_t> struct lathe_bare<const volatile lathe_t> { typedef lathe_t lathe_type; };

// An element as a number of its size, as bytes, or as a part of something larger: a vector, a structure.
template <class lathe_e, class lathe_u,
          bool lathe_object = __is_class(lathe_u) || __is_union(lathe_u) || __is_enum(lathe_u)>
struct lathe_pointee : lathe_answer<sizeof(lathe_e) == sizeof(lathe_u)> {};
template <class lathe_e, class lathe_u> struct lathe_pointee<lathe_e, lathe_u, true> : lathe_answer<true> {};
template <class lathe_e> struct lathe_pointee<lathe_e, lathe_f16, true> : lathe_answer<false> {};
template <class lathe_e> struct lathe_pointee<lathe_e, lathe_bf16, true> : lathe_answer<false> {};
template <> struct lathe_pointee<lathe_f16, lathe_f16, true> : lathe_answer<true> {};
template <> struct lathe_pointee<lathe_bf16, lathe_bf16, true> : lathe_answer<true> {};
template <class lathe_e> struct lathe_pointee<lathe_e, void, false> : lathe_answer<true> {};
template <class lathe_e> struct lathe_pointee<lathe_e, char, false> : lathe_answer<true> {};
template <class lathe_e> struct lathe_pointee<lathe_e, signed char, false> : lathe_answer<true> {};
template <class lathe_e> struct lathe_pointee<lathe_e, unsigned char, false> : lathe_answer<true> {};
template <class lathe_e, class lathe_u> struct lathe_pointee<lathe_e, lathe_u *, false> : lathe_answer<false> {};
template <class lathe_e, class lathe_r, class... lathe_a>
struct lathe_pointee<lathe_e, lathe_r(lathe_a...), false> : lathe_answer<false> {};

// ---- whether a parameter takes what is passed
template <int lathe_bytes, class lathe_p>
struct lathe_whole : lathe_answer<__is_enum(lathe_p) && sizeof(lathe_p) == lathe_bytes> {};
template <int lathe_bytes> struct lathe_whole<lathe_bytes, int> : lathe_answer<sizeof(int) == lathe_bytes> {};
template <int lathe_bytes> struct lathe_whole<lathe_bytes, unsigned> : lathe_answer<sizeof(unsigned) == lathe_bytes> {};
template <int lathe_bytes> struct lathe_whole<lathe_bytes, long> : lathe_answer<sizeof(long) == lathe_bytes> {};
template <int lathe_bytes>
struct lathe_whole<lathe_bytes, unsigned long> : lathe_answer<sizeof(unsigned long) == lathe_bytes> {};
template <int lathe_bytes> struct lathe_whole<lathe_bytes, long long> : lathe_answer<lathe_bytes == 8> {};
template <int lathe_bytes> struct lathe_whole<lathe_bytes, unsigned long long> : lathe_answer<lathe_bytes == 8> {};

template <class lathe_passed, class lathe_p> struct lathe_takes : lathe_answer<false> {};
template <class lathe_p> struct lathe_takes<lathe_p, lathe_p> : lathe_answer<true> {};
template <int lathe_bytes, class lathe_p>
struct lathe_takes<lathe_integer<lathe_bytes>, lathe_p> : lathe_whole<lathe_bytes, lathe_p> {};
template <class lathe_e, class lathe_u>
struct lathe_takes<lathe_tensor<lathe_e>, lathe_u *>
    : lathe_pointee<lathe_e, typename lathe_bare<typename lathe_flat<lathe_u>::lathe_type>::lathe_type> {};
template <class lathe_u> struct lathe_takes<lathe_memory, lathe_u *> : lathe_answer<true> {};
template <class lathe_p>
struct lathe_takes<lathe_map, lathe_p> : lathe_answer<__is_class(lathe_p) && sizeof(lathe_p) == 128> {};

// ---- which of the functions of a name is the kernel: the one that returns nothing. Where several do, or none, this is
// no match, and the name is let pass. lathe_t: nothing, so that it is that and no error.
template <class lathe_t, class... lathe_ps>
__device__ void (*lathe_pick(void (*lathe_function)(lathe_ps...)))(lathe_ps...);

// ---- a launch: the number of its arguments, then each of them. A name that is no kernel at file scope is let pass.
template <int lathe_step, int lathe_at, class lathe_p, bool lathe_right> struct lathe_argument : lathe_answer<true> {};
template <int lathe_step, int lathe_at, class lathe_p>
struct lathe_argument<lathe_step, lathe_at, lathe_p, false>
    : lathe_answer<sizeof(lathe_misfit<lathe_step, lathe_at, lathe_p>) != 0> {};

template <class... lathe_all> struct lathe_list;
template <int lathe_step, int lathe_at, class lathe_ps, class lathe_as> struct lathe_each : lathe_answer<true> {};
template <int lathe_step, int lathe_at, class lathe_p, class... lathe_ps, class lathe_a, class... lathe_as>
struct lathe_each<lathe_step, lathe_at, lathe_list<lathe_p, lathe_ps...>, lathe_list<lathe_a, lathe_as...>>
    : lathe_answer<
          lathe_argument<lathe_step, lathe_at, lathe_p, lathe_takes<lathe_a, lathe_p>::lathe_fits>::lathe_fits &&
          lathe_each<lathe_step, lathe_at + 1, lathe_list<lathe_ps...>, lathe_list<lathe_as...>>::lathe_fits> {};

template <bool lathe_same, int lathe_step, class lathe_kernel, class lathe_ps, class lathe_as>
struct lathe_check : lathe_each<lathe_step, 1, lathe_ps, lathe_as> {};
template <int lathe_step, class lathe_kernel, class... lathe_ps, class lathe_as>
struct lathe_check<false, lathe_step, lathe_kernel, lathe_list<lathe_ps...>, lathe_as>
    : lathe_answer<sizeof(lathe_miscount<lathe_step, (int)sizeof...(lathe_ps), lathe_kernel>) != 0> {};

template <int lathe_step, class lathe_kernel, class... lathe_as> struct lathe_launch : lathe_answer<true> {};
template <int lathe_step, class... lathe_ps, class... lathe_as>
struct lathe_launch<lathe_step, void (*)(lathe_ps...), lathe_as...>
    : lathe_check<sizeof...(lathe_ps) == sizeof...(lathe_as), lathe_step, void (*)(lathe_ps...),
                  lathe_list<lathe_ps...>, lathe_list<lathe_as...>> {};

} // namespace lathe_launches
