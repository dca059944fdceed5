# lathe: `make` builds build/lathe; `make test` and `make demo` also install what is missing (scripts/setup);
# `make help` lists the targets: those with ## behind them.
# Rooms and who may include whom: docs/design.md; scripts/check-includes proves it.

CC       ?= cc
CSTD      = -std=c11 -D_GNU_SOURCE
WARN      = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter \
            -Werror=implicit-function-declaration
OPT      ?= -O2 -g
O        ?= build
JOBS     ?= $(shell nproc 2>/dev/null || echo 1)
INC       = -Ituner -I. -isystem /usr/include/lua5.4 -I$(O)/gen
CFLAGS   += $(CSTD) $(WARN) $(OPT) $(INC) -pthread $(SAN)
LIBDIR   ?= /usr/lib/$(shell $(CC) -dumpmachine)
LIBS      = -l:liblua5.4.a -l:libsqlite3.a -l:libuv_a.a -l:libjansson.a -l:libxxhash.a -l:libz.a -lm -ldl -lpthread
LDFLAGS  += -pthread $(SAN) -Wl,-z,relro

src_of    = $(wildcard $(1)/*.c $(1)/*/*.c)
SRC_base     = $(call src_of,tuner/base)
SRC_expr     = $(call src_of,tuner/expr)
SRC_model    = $(call src_of,tuner/model)
SRC_device   = $(call src_of,tuner/device)
SRC_trial    = $(call src_of,tuner/trial)
SRC_campaign = $(call src_of,tuner/campaign)
SRC_contest  = $(call src_of,tuner/contest)
SRC_replay   = $(call src_of,tuner/replay)
SRC_score    = $(call src_of,tuner/score)
SRC_export   = $(call src_of,tuner/export)
SRC_report   = $(call src_of,tuner/report)
SRC_lib      = $(call src_of,tuner/lib)
SRC_console  = $(call src_of,tuner/console)
SRC_cli      = $(call src_of,tuner/cli)
SRC_mpi      = $(call src_of,tuner/mpi)
SRC_search   = $(wildcard search/*/*.c)
SRC_db       = $(call src_of,db)
SRC_all   = $(SRC_base) $(SRC_expr) $(SRC_model) $(SRC_device) $(SRC_trial) $(SRC_replay) $(SRC_score) \
            $(SRC_campaign) $(SRC_contest) $(SRC_export) $(SRC_report) $(SRC_console) $(SRC_cli) $(SRC_search) $(SRC_db)
obj_of    = $(patsubst %.c,$(O)/obj/%.o,$(1))
OBJ       = $(call obj_of,$(SRC_all))

# what a room's tests link: the room and everything below it
BELOW_base     = $(SRC_base)
BELOW_expr     = $(SRC_expr) $(BELOW_base)
BELOW_model    = $(SRC_model) $(BELOW_expr)
BELOW_device   = $(SRC_device) $(BELOW_model)
BELOW_search   = $(SRC_search) $(BELOW_model)
BELOW_db       = $(SRC_db) $(BELOW_model)
BELOW_trial    = $(SRC_trial) $(BELOW_device)
BELOW_mpi      = tuner/mpi/frame.c tuner/mpi/package.c $(BELOW_trial)
BELOW_replay   = $(SRC_replay) $(BELOW_db)
BELOW_score    = $(SRC_score) $(BELOW_replay)
BELOW_report   = $(SRC_report) $(BELOW_db)
BELOW_export   = $(SRC_export) $(BELOW_model)
BELOW_lib      = $(SRC_lib) $(SRC_export) $(SRC_db) $(SRC_search) $(BELOW_device)
BELOW_campaign = $(SRC_campaign) $(SRC_trial) $(SRC_replay) $(SRC_search) $(SRC_db) $(BELOW_device)
BELOW_contest  = $(SRC_contest) $(SRC_score) $(BELOW_campaign)
BELOW_console  = $(SRC_console) $(BELOW_base)
BELOW_cli      = $(SRC_all)
BELOW_kernels  = $(BELOW_search)

# `make V=1` shows the commands
ifeq ($(V),)
Q = @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

all: $(O)/lathe ## the program, $(O)/lathe (the default)

$(O)/lathe: $(call obj_of,tuner/main.c) $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# The same program as processes of an MPI job (docs/mpi.md), beside the one that needs no MPI: Debian's libopenmpi-dev.
MPICC    ?= mpicc
MPI_INC   = $(shell $(MPICC) --showme:incdirs 2>/dev/null)
$(O)/lathe-mpi: $(O)/obj/mpi/main.o $(OBJ) $(call obj_of,$(SRC_mpi))
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) $(shell $(MPICC) --showme:link)
$(O)/obj/tuner/mpi/%.o: CFLAGS += $(MPI_INC:%=-isystem %)
$(O)/obj/mpi/main.o: tuner/main.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS) -DLATHE_MPI -MMD -MP -c -o $@ $<
mpi: ## $(O)/lathe-mpi too, whose devices may be ranks of an MPI job
	@command -v $(MPICC) >/dev/null || { echo "mpi: no $(MPICC): scripts/setup --mpi installs it" >&2; exit 1; }
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O) $(O)/lathe $(O)/lathe-mpi

# Campaigns under mpirun, ranks that die among them; as root also on three hosts that are network namespaces.
mpi-test: ## its tests
	scripts/setup --mpi
	$(MAKE) --no-print-directory O=$(O) mpi
	LATHE_BIN=$(O)/lathe LATHE_MPI_BIN=$(O)/lathe-mpi bats --timing test/mpi

# Loops over thousands of candidates. Vectors, but no contraction and no reordering: results are the same everywhere.
$(O)/obj/search/surrogates/%.o: CFLAGS += -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off

$(O)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

# Text embedded in the binary: $(O)/gen/x.inc is the file's bytes, `static const char T[] = {\n#include "x.inc"\n, 0};`.
# $(O)/gen/strategies.inc is a list of { "name", text } made from search/strategies.
EMBED     = $(addprefix search/lua/,prelude.lua companions.lua toolbox.lua points.lua guided.lua) \
            $(sort $(wildcard db/schema*.sql)) tuner/device/host/host_shim.h \
            kernels/common/types.cuh kernels/common/launches.cuh kernels/common/verify.cu \
            $(addprefix kernels/common/,lathe.cuh mma.cuh split.cuh hopper.cuh wgmma.cuh delays.cuh) \
            kernels/common/inputs.cu kernels/common/plain_gemm.cu tuner/export/torch/torch_runtime.py \
            tuner/export/torch/torch_cubin.py tuner/export/c/c_runtime.h tuner/model/serve_order.h tuner/campaign/selftest.lua \
            tuner/campaign/selftest.cu \
            $(wildcard tuner/cli/completion.*) $(WEB)
WEB       = $(wildcard tuner/report/web/*.html tuner/report/web/*.css tuner/report/web/*.js)
STRATEGIES = $(wildcard search/strategies/*.lua)
GEN       = $(EMBED:%=$(O)/gen/%.inc) $(STRATEGIES:%=$(O)/gen/%.inc) $(O)/gen/strategies.inc $(O)/gen/version.h \
            $(O)/gen/echarts.inc
$(OBJ) $(call obj_of,$(SRC_lib)) $(O)/obj/tuner/main.o $(O)/obj/mpi/main.o: | $(GEN)
# Rewritten only when it changes, so that a new commit recompiles two files.
$(O)/gen/version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define LATHE_VERSION "%s"\n#define LATHE_DATE "%s"\n' $$(scripts/version) $$(scripts/version --date) > $@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
FORCE:
$(O)/gen/strategies.inc: $(STRATEGIES) Makefile
	@mkdir -p $(@D)
	$(Q)for f in $(STRATEGIES); do \
		printf '{ "%s", (const char[]){\n#include "%s.inc"\n, 0} },\n' $$(basename $$f .lua) $$f; done > $@
# The chart library of reports: fetched once; `make charts` tries again.
$(O)/gen/echarts.inc: tuner/report/web/package.json tuner/report/web/package-lock.json scripts/fetch-charts
	$(call say,NPM,$@)
	$(Q)scripts/fetch-charts $(O)
charts: ## fetch the chart library of reports again
	$(Q)scripts/fetch-charts $(O)
$(O)/gen/%.inc: %
	@mkdir -p $(@D)
	$(Q)xxd -i < $< > $@.tmp && mv $@.tmp $@

# liblathe: objects of its own, since a shared library's must be position-independent. Debian's static libraries are not
# quite: jansson's json_loadf compares with stdin, an object of the C library, so that one name becomes ours
# (lib_stdin.c). All but lathe_* is hidden. Never sanitized: what is linked with it would have to be too. A program that
# links liblathe.a needs -lm.
LIB_SRC   = $(SRC_base) $(SRC_expr) $(SRC_model) $(SRC_db) $(SRC_lib) $(addprefix tuner/device/,guest.c cuda/cuda_calls.c \
            dev_launch.c find_lib.c places.c)
LIB_OBJ   = $(patsubst %.c,$(O)/pic/%.o,$(LIB_SRC))
LIB_CFLAGS = $(filter-out $(SAN),$(CFLAGS)) -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
LIB_LDFLAGS = $(filter-out $(SAN),$(LDFLAGS)) -shared -Wl,--gc-sections -Wl,--exclude-libs,ALL
LIB_DEPS  = $(patsubst %,$(O)/pic/lib%.a,jansson sqlite3 xxhash)
lib: $(O)/liblathe.so.0 $(O)/liblathe.a $(O)/include/lathe.h ## liblathe: a campaign's winners at run time
$(O)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(call say,PIC,$<)
	$(Q)$(CC) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<
$(LIB_OBJ): | $(GEN)
$(O)/pic/lib%.a: $(LIBDIR)/lib%.a
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-sym stdin=lib_no_stdin $< $@
$(O)/liblathe.so.0: $(LIB_OBJ) $(LIB_DEPS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LIB_LDFLAGS) -Wl,-soname,$(@F) -Wl,-z,defs -o $@ $^ -lm
	$(Q)ln -sf $(@F) $(O)/liblathe.so
$(O)/liblathe.a: $(LIB_OBJ) $(LIB_DEPS)
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(O)/pic/all.o $(LIB_OBJ) $(LIB_DEPS)
	$(Q)objcopy -w --keep-global-symbol='lathe_*' $(O)/pic/all.o $(O)/pic/liblathe.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(O)/pic/liblathe.o
$(O)/include/lathe.h: tuner/lib/lathe.h
	@mkdir -p $(@D)
	$(Q)cp $< $@

# test/unit/ROOM/test_NAME.c -> $(O)/test/ROOM/test_NAME
UNIT_SRC  = $(wildcard test/unit/*/test_*.c)
UNIT_BIN  = $(patsubst test/unit/%.c,$(O)/test/%,$(UNIT_SRC))
.SECONDEXPANSION:
$(O)/test/%: test/unit/%.c $$(call obj_of,$$(BELOW_$$(firstword $$(subst /, ,$$*))))
	@mkdir -p $(@D)
	$(call say,TEST,$@)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -o $@ $< $(filter %.o,$^) $(LDFLAGS) -lcmocka $(LIBS)

# The example of liblathe, against a driver whose GPU is the host device.
$(O)/test/host_driver/libcuda.so: test/unit/lib/host_driver.c \
  $(patsubst %.c,$(O)/pic/%.o,$(BELOW_device) tuner/lib/lib_stdin.c)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LIB_CFLAGS) -Wno-missing-prototypes $(LIB_LDFLAGS) -Wl,-soname,libcuda.so.1 -o $@ $^ $(LIB_DEPS) -lm
	$(Q)ln -sf libcuda.so $(@D)/libcuda.so.1
$(patsubst %.c,$(O)/pic/%.o,$(BELOW_device)): | $(GEN)
$(O)/test/host_driver/libcuda.so: | $(LIB_DEPS)
$(O)/test/cli/test_lib_example: CFLAGS += -DBUILD='"$(O)"'
$(O)/test/cli/test_lib_example: | lib $(O)/test/host_driver/libcuda.so

# make unit T=model/test_expr; without T all of them
ifeq ($(T),)
unit: unit-binaries ## T=ROOM/test_NAME: one C test; without T all
	scripts/run-tests $(O) $(UNIT_BIN:$(O)/test/%=%)
else
unit: $(O)/test/$(T)
	$<
endif

setup: ## install the packages that building and testing need (Debian, Ubuntu)
	scripts/setup
test: setup ## all tests that need no GPU
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O) all unit-binaries
	scripts/run-tests $(O)
demo: ## a first campaign on the best device here
	scripts/setup --no-browser
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O) all
	scripts/demo $(O)/lathe
unit-binaries: $(UNIT_BIN)

# The same tests, everything under AddressSanitizer and UndefinedBehaviorSanitizer, the host device's kernels too.
ASAN      = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
sanitize: setup ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O)-asan SAN="$(ASAN)" OPT="-O1 -g" all unit-binaries
	LATHE_SANITIZE=1 scripts/run-tests $(O)-asan

# The test of liblathe's threads under ThreadSanitizer.
lib-threads: setup ## liblathe's threads under ThreadSanitizer
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O)-tsan SAN="-fsanitize=thread" OPT="-O1 -g" \
		$(O)-tsan/test/lib/test_lib_threads
	TSAN_OPTIONS=halt_on_error=1 $(O)-tsan/test/lib/test_lib_threads

# Fuzz targets (clang's libFuzzer): make fuzz F=expr SECONDS=60; F is the NAME of a test/fuzz/fuzz_NAME.c. The corpus
# grows in $(O)-fuzz/corpus-F, and begins with seeds.
F        ?= expr
SECONDS  ?= 60
SEEDS_spec_json = test/data/model
SEEDS_definition = test/data/spaces
SEEDS_bundle = test/data/model
SEEDS_recording = test/data/recorded/small
SEEDS_spec_lua  = kernels/linear test/specs test/cli/kernels/tiny
fuzz: setup ## F=expr SECONDS=60: fuzz test/fuzz/fuzz_F.c
	@command -v clang >/dev/null || { echo "fuzz: clang is needed for its libFuzzer: apt-get install clang" >&2; exit 1; }
	@mkdir -p $(O)-fuzz/corpus-$(F)
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O)-fuzz CC=clang OPT="-O1 -g" \
	  SAN="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined" fuzz-$(F)
	$(O)-fuzz/fuzz_$(F) -max_total_time=$(SECONDS) -rss_limit_mb=4096 -artifact_prefix=$(O)-fuzz/ \
	  $(O)-fuzz/corpus-$(F) $(SEEDS_$(F))
fuzz-%: test/fuzz/fuzz_%.c $(wildcard test/fuzz/*.h) $(call obj_of,$(SRC_replay) $(BELOW_lib))
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer -o $(O)/fuzz_$* $< $(filter %.o,$^) $(LDFLAGS) $(LIBS)
# The Nth allocation, file operation, SQLite step, start of a worker or device call of a campaign fails, N = 1, 2, ...:
# the same objects, linked with calls that do. FAULTS_STEP: N grows by so much a step, in per cent (0: by one).
WRAPPED   = malloc calloc realloc fopen fclose fsync fdatasync ftruncate64 mkdir rename unlink read write pread64 pwrite64 \
            open open64 sqlite3_step uv_spawn dev_find
$(O)/lathe-faults: test/faults/wrap.c $(call obj_of,tuner/main.c) $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -D_LARGEFILE64_SOURCE $(LDFLAGS) $(WRAPPED:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)
faults: setup ## the Nth allocation, file operation, ... of a campaign fails
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O) $(O)/lathe-faults
	LATHE_BIN=$(O)/lathe-faults bats --timing test/faults/faults.bats
# Long: campaigns that are killed 50 times each, at random moments, and resumed.
kills: all ## campaigns killed 50 times each (long)
	LATHE_KILLS=50 LATHE_BIN=$(O)/lathe bats test/cli/resume.bats
check-includes: ## who includes whom, against docs/design.md
	scripts/check-includes

# All planted mistakes are refused, 2000 correct configurations are not; about an hour of one core. On a GPU:
# LATHE_CHECK_DEVICE=cuda:0 make mutants
mutants: setup ## planted mistakes are refused (an hour)
	$(MAKE) --no-print-directory -j$(JOBS) O=$(O) all $(O)/test/kernels/test_wgmma_run \
		$(O)/test/kernels/test_wgmma_shared_run
	LATHE_BIN=$(O)/lathe scripts/check_mutants
	LATHE_BIN=$(O)/lathe scripts/check_right --sample 2000

# --- handing it on (docs/install.md) ---
PREFIX   ?= /usr/local
DESTDIR  ?=
install: all ## PREFIX=/usr/local DESTDIR=: program, kernels, man pages, completion, documents; the library if it is built
	scripts/install $(O) '$(PREFIX)' '$(DESTDIR)'
uninstall: all ## what install put there
	scripts/install --remove $(O) '$(PREFIX)' '$(DESTDIR)'
# The same objects, linked for older machines: glibc as it was in version GLIBC, everything else in the file.
GLIBC    ?= 2.28
$(O)/static/$(GLIBC)/libc.so: scripts/old-glibc
	CC='$(CC)' scripts/old-glibc $(GLIBC) $(@D)
$(O)/static/lathe: scripts/old_glibc.c $(call obj_of,tuner/main.c) $(OBJ) | $(O)/static/$(GLIBC)/libc.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -L$(O)/static/$(GLIBC) $(LDFLAGS) -static-libgcc -Wl,--wrap=__libc_start_main -Wl,-S -o $@ $^ \
	  -Wl,--no-as-needed $(LIBS)
	$(Q)scripts/old-glibc --check $(GLIBC) $@
static: $(O)/static/lathe ## $(O)/static/lathe, which needs nothing but glibc 2.28 or later, and a tarball with it
	scripts/dist --binary $(O)
dist: $(O)/gen/echarts.inc ## $(O)/lathe-VERSION.tar.gz of what is committed, with the chart library
	scripts/dist $(O)
.PHONY: install uninstall static dist help
help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | sed 's|$$(O)|$(O)|g' | sort | expand -t 22

clean: ## everything that was built
	rm -rf $(O) $(O)-asan $(O)-tsan $(O)-fuzz

-include $(shell find $(O) -name '*.d' 2>/dev/null)

.PHONY: all mpi mpi-test lib charts clean setup unit test demo unit-binaries sanitize lib-threads fuzz faults kills
.PHONY: check-includes mutants FORCE
