// Which files other users may change. A Python that is found, not named, must
// be one's own: whoever can change it runs code as whoever runs it.
#ifndef PYMEMRUN_LAUNCHER_PYTHON_OTHERS_ACCESS_H_
#define PYMEMRUN_LAUNCHER_PYTHON_OTHERS_ACCESS_H_

#include <string>

namespace pymemrun {

// The first file, folder or link on the way to `path`, itself included, that a
// user other than this one and root owns or may write to. Links are followed,
// and their own ways are looked at too. A folder such as /tmp, where others may
// add names and change none, is no such place. Otherwise empty. What is
// missing counts: others could make it.
std::string OthersMayChange(const std::string& path);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PYTHON_OTHERS_ACCESS_H_
