// pymemreport: answers from run files.
#include "readers/report/pymemreport.h"

int main(int argc, char** argv) {
  return pymemrun::ProgramMain("pymemreport", argc, argv,
                               &pymemrun::RunPymemreport);
}
