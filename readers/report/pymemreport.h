// The program pymemreport, apart from main(): answers from run files.
#ifndef PYMEMRUN_READERS_REPORT_PYMEMREPORT_H_
#define PYMEMRUN_READERS_REPORT_PYMEMREPORT_H_

#include "readers/report/program_main.h"

namespace pymemrun {

Program RunPymemreport;

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_PYMEMREPORT_H_
