/* A library for plugins.c. plugin_ready() is called when it is loaded, before anybody else can call anything in it. */
int plugin_loads;

__attribute__((noipa)) void plugin_ready(void) { plugin_loads++; }

__attribute__((constructor)) static void load(void) { plugin_ready(); }

__attribute__((noipa)) long plugin_work(long number)
{
    return number * 7; /* mark: plugin-work */
}
