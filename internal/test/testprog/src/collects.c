/* Something of every kind to collect: variables of each place and size, members, bit fields, arrays, texts. */
#include <stdio.h>

struct inner { short a; unsigned char b; };
struct node { int id; unsigned flags : 3; int delta : 5; struct inner in; double weight; struct node *next; char name[12]; };
enum color { RED, GREEN = 5, BLUE = -1 };
struct bag { int count; } bag = { 11 };

int first = 1, second = 2;
unsigned char third = 3;
static struct node root = { 7, 5, -3, { -2, 200 }, 1.5, 0, "root" };
char *text = "hello world";
float ratio = 0.25;
enum color paint = BLUE;
unsigned long big = 0xfedcba9876543210ul;
int matrix[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } };

__attribute__((noinline)) int handle(struct node *n, int x, unsigned char c, const char *label)
{
	static int calls;
	int buf[8];
	long sum = 0;
	for (int i = 0; i < 8; i++)
		buf[i] = i * x;
	{
		int within = x + 1;
		sum = within + c;
		calls++;	/* mark: collect */
	}
	return sum + n->id + label[0] + buf[3];
}

int main(void)
{
	struct node other = { 8, 2, 4, { 3, 4 }, 2.5, &root, "other" };
	int result = 0;
	for (int i = 0; i < 5; i++)
		result += handle(i & 1 ? &other : &root, i - 2, 250 + i, text + i);
	printf("result=%d\n", result);
	return 0;
}
