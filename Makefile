# Every entry point; "make" alone lists them.

BUILD = build

CFLAGS ?= -g -O2
WARNINGS = -Wall -Wextra -Wpointer-arith -Wno-unused-parameter -Werror
JOBS ?= 2
ROUNDS ?= 1

SANITIZE =
CFLAGS_ALL = -std=gnu11 $(CFLAGS) $(SANITIZE) $(WARNINGS) -Ilib -I$(BUILD)
LIBS = -ljansson -lhiredis -lcjose -lcrypto -lpcre2-8 -lutf8proc

LIB_SRC := $(wildcard lib/relay_*.c)
CTL_SRC := $(wildcard lib/relayctl*.c)
UNIT_SRC := $(wildcard t/unit/test_*.c)
FUZZ_SRC := $(wildcard t/fuzz/fuzz_*.c)

# what fuzz targets share; their main program is libFuzzer's or replay.c's

FUZZ_LIB_SRC := $(filter-out $(FUZZ_SRC) t/fuzz/replay.c,$(wildcard t/fuzz/*.c))

LIB_OBJ := $(LIB_SRC:lib/%.c=$(BUILD)/lib/%.o)
CTL_OBJ := $(CTL_SRC:lib/%.c=$(BUILD)/lib/%.o)
UNIT := $(UNIT_SRC:t/unit/%.c=$(BUILD)/t/%)
FUZZ_LIB_OBJ := $(FUZZ_LIB_SRC:t/fuzz/%.c=$(BUILD)/fuzz-lib/%.o)
REPLAYS := $(FUZZ_SRC:t/fuzz/%.c=$(BUILD)/t/%)

DATA := $(wildcard schema/redis/*.lua schema/views/*.json schema/*.json)

MODULE = $(BUILD)/nginx/ngx_http_relay_module.so

# what the scripts under t/tools/ need of the above

export BUILD JOBS


.PHONY: help all run stop test soak asan fuzz bench clean module unit

help:
	@echo 'make run    start Redis and nginx with the module on loopback and'
	@echo '            show one relay: read, refused, revoked, with receipts'
	@echo 'make stop   stop them'
	@echo 'make test   style, unit tests, tests against nginx and Redis, and'
	@echo '            whether any log holds a link token'
	@echo 'make soak   the tests that make their own input, ROUNDS=N of it;'
	@echo '            SEED=N for other input'
	@echo 'make asan   the same tests under AddressSanitizer and UBSan, nginx'
	@echo '            itself included'
	@echo 'make fuzz   look for inputs that break a parser, each target for a'
	@echo '            minute; TARGET=NAME, TIME=SECONDS'
	@echo 'make bench  ratios to nginx static, Lua, jansson, simdjson, ajv;'
	@echo '            BAR=NAME measures one'
	@echo 'make all    build the module and relayctl only'
	@echo 'make clean  stop, and remove build/'
	@echo
	@echo 'run, test, asan, soak, fuzz and bench install the Debian packages that'
	@echo 'are missing; the tests put those of t/package.json, from npm, into'
	@echo 'build/node.'


all: $(BUILD)/relayctl module
	@echo
	@echo 'relayctl:  $(CURDIR)/$(BUILD)/relayctl'
	@echo 'module:    $(CURDIR)/$(MODULE)'


run:
	@sh t/tools/packages.sh build run
	@$(MAKE) --no-print-directory all
	@sh t/tools/run.sh start


stop:
	@sh t/tools/run.sh stop


test:
	@sh t/tools/packages.sh build run test node
	@sh t/tools/node.sh || :
	@$(MAKE) --no-print-directory all
	@sh t/tools/test.sh


# each prints its seed, with which it can be run again

soak:
	@sh t/tools/packages.sh build test node
	@sh t/tools/node.sh
	@$(MAKE) --no-print-directory unit
	@ROUNDS='$(or $(ROUNDS),50000)' SEED='$(SEED)' $(BUILD)/t/test_view_property
	@SEED='$(or $(SEED),1)' DOCUMENTS='$(or $(ROUNDS),100000)' \
	    prove -v t/schema/ajv.t


asan:
	@sh t/tools/packages.sh build run test node
	@sh t/tools/node.sh || :
	@sh t/tools/asan.sh


fuzz:
	@sh t/tools/packages.sh build clang libclang-rt-dev
	@TARGET='$(TARGET)' TIME='$(TIME)' sh t/tools/fuzz.sh


bench:
	@sh t/tools/packages.sh build run wrk redis-tools \
	    libnginx-mod-http-lua lua-nginx-redis lua-cjson \
	    lua-resty-core lua-resty-lrucache
	@sh t/tools/packages.sh g++ libsimdjson-dev || :
	@sh t/tools/packages.sh node && sh t/tools/node.sh || :
	@$(MAKE) --no-print-directory all
	@BAR='$(BAR)' perl t/bench/run.pl


clean:
	@sh t/tools/run.sh stop
	rm -rf build


###############################################################################

# nginx's own Makefile knows what of the module is out of date

module: $(BUILD)/relay_embedded.h
	@sh t/tools/module.sh


unit: $(UNIT) $(REPLAYS) $(BUILD)/t/lines


$(BUILD)/relayctl: $(CTL_OBJ) $(BUILD)/librelay.a
	@echo '  $@'
	@$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LIBS)


$(BUILD)/librelay.a: $(LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^


$(BUILD)/lib/%.o: lib/%.c
	@mkdir -p $(@D)
	@echo '  $@'
	@$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<


$(BUILD)/lib/relay_data.o: $(BUILD)/relay_embedded.h


# the folders count as well: a file may have been taken away

$(BUILD)/relay_embedded.h: schema/embed.sh $(DATA) \
        schema schema/redis schema/views
	@mkdir -p $(@D)
	@sh schema/embed.sh > $@.new
	@mv $@.new $@


$(BUILD)/t/%: t/unit/%.c $(BUILD)/librelay.a
	@mkdir -p $(@D)
	@echo '  $@'
	@$(CC) $(CFLAGS_ALL) -MMD -MP -o $@ $< $(BUILD)/librelay.a \
	    $(LDFLAGS) -lcmocka $(LIBS)


$(BUILD)/t/lines: t/schema/lines.c $(BUILD)/librelay.a
	@mkdir -p $(@D)
	@echo '  $@'
	@$(CC) $(CFLAGS_ALL) -MMD -MP -o $@ $< $(BUILD)/librelay.a \
	    $(LDFLAGS) $(LIBS)


$(BUILD)/fuzz-lib/%.o: t/fuzz/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<


$(BUILD)/libfuzz.a: $(FUZZ_LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^


# a target alone, over committed inputs

$(BUILD)/t/fuzz_%: t/fuzz/fuzz_%.c $(BUILD)/fuzz-lib/replay.o \
                   $(BUILD)/libfuzz.a $(BUILD)/librelay.a
	@mkdir -p $(@D)
	@echo '  $@'
	@$(CC) $(CFLAGS_ALL) -MMD -MP -o $@ $< $(BUILD)/fuzz-lib/replay.o \
	    $(BUILD)/libfuzz.a $(BUILD)/librelay.a $(LDFLAGS) $(LIBS)


# one under libFuzzer; t/tools/fuzz.sh says with which compiler

$(BUILD)/fuzz_%: t/fuzz/fuzz_%.c $(BUILD)/libfuzz.a $(BUILD)/librelay.a
	@echo '  $@'
	@$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer -MMD -MP -o $@ $< \
	    $(BUILD)/libfuzz.a $(BUILD)/librelay.a $(LDFLAGS) $(LIBS)


-include $(wildcard $(BUILD)/lib/*.d $(BUILD)/t/*.d $(BUILD)/fuzz-lib/*.d)
-include $(wildcard $(BUILD)/*.d)
