/*
 * foreign: calls take once for each text that a foreigner may have sent: commands to a terminal, and formulas of a spreadsheet.
 *
 *     foreign
 *
 * It prints for each call, in hexadecimal so that nothing obeys it:
 *
 *     take text=HEX number=N
 */
#include <stdio.h>

struct letter { const char *text; int number; };

static const char *texts[] = {
    "plain", "", "a\xc2\x9b" "31mred", "a\x7f\x7f", "a\xe2\x80\xae" "fdp.exe", "a\xe2\x81\xa6x\xe2\x81\xa9", "c->argc & <b>",
    "=1+1", "@SUM(A1)", "+1+cmd|x", "-2+3", "'quoted", " =1+1", "-5", "1=1", "\xef\xbc\x9d" "1+1",
};

void take(struct letter *l) /* the texts are read here */
{
    l->number--;
}

int main(void)
{
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct letter l = { texts[i], -(int)i };
        printf("take text=");
        for (const char *c = l.text; *c; c++)
            printf("%02x", (unsigned char)*c);
        printf(" number=%d\n", l.number);
        fflush(stdout);
        take(&l);
    }
    return 0;
}
