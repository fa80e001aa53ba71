/* A plugin of QEMU (API version 1, QEMU 4.2 to 8.x) that writes what QEMU's own execlog writes up to 8.1, for one processor. Debian
   packages no plugins, nor the header that has these declarations. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { no_registers };
enum { reads_and_writes = 3 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
void qemu_plugin_outs(const char *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *), int, int,
	void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);

int qemu_plugin_version = 1;
static const char *end = ""; /* of the line before */

static void execute(unsigned cpu, void *line)
{
	qemu_plugin_outs(end);
	qemu_plugin_outs(line);
	end = "\n";
}

static void access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *unused)
{
	char text[64];
	snprintf(text, sizeof text, ", %s, 0x%08" PRIx64, qemu_plugin_mem_is_store(info) ? "store" : "load", address);
	qemu_plugin_outs(text);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		char *line = malloc(512);
		snprintf(line, 512, "0, 0x%" PRIx64 ", 0x%" PRIx32 ", \"%s\"", qemu_plugin_insn_vaddr(instruction),
			*(const uint32_t *)qemu_plugin_insn_data(instruction), qemu_plugin_insn_disas(instruction));
		qemu_plugin_register_vcpu_mem_cb(instruction, access, no_registers, reads_and_writes, NULL);
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, execute, no_registers, line);
	}
}

static void leave(qemu_plugin_id_t id, void *unused)
{
	qemu_plugin_outs(end);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, leave, NULL);
	return 0;
}
