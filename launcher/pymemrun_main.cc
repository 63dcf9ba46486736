// pymemrun: runs a Python program as python does, and records its memory.
#include "launcher/application.h"

int main(int argc, char** argv) { return pymemrun::RunApplication(argc, argv); }
