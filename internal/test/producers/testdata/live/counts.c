/* A plugin of QEMU (API version 1, QEMU 4.2 to 8.x) that counts how often the instruction at each address is executed, and at the
   end writes them to the file that its argument names. Debian packages no plugins, nor the header that has these declarations. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { add_u64 = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);

int qemu_plugin_version = 1;

static struct counter {
	uint64_t address, count;
	struct counter *next;
} *counters;
static FILE *out;

/* A block may be translated again, and blocks may overlap, so an address may have several counters: the reader adds them up. */
static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		struct counter *c = calloc(1, sizeof *c);
		c->address = qemu_plugin_insn_vaddr(instruction);
		c->next = counters;
		counters = c;
		qemu_plugin_register_vcpu_insn_exec_inline(instruction, add_u64, &c->count, 1);
	}
}

static void leave(qemu_plugin_id_t id, void *unused)
{
	for (struct counter *c = counters; c; c = c->next)
		fprintf(out, "%#" PRIx64 " %" PRIu64 "\n", c->address, c->count);
	fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *path = argc == 1 ? strchr(argv[0], '=') : NULL;
	if (!path || !(out = fopen(path + 1, "w")))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, leave, NULL);
	return 0;
}
