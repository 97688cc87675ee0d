# Turns a text file into a C++ source that defines it as a std::string_view, so that the program needs no files:
#   cmake -DINPUT=page.html -DOUTPUT=page.cpp -DHEADER=cli/page.h -DNAMESPACE=cli -DNAME=kPage -P Embed.cmake
# The header declares `extern const std::string_view NAME` in namespace sluice::NAMESPACE. A line `{{include FILE}}` stands
# for the text of that file, relative to the input; included files include nothing.
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} text)
get_filename_component(folder ${INPUT} DIRECTORY)
string(REGEX MATCHALL "{{include [A-Za-z0-9_./]+}}" includes "${text}")
foreach(include ${includes})
  string(REGEX REPLACE "{{include (.*)}}" "\\1" name "${include}")
  file(READ ${folder}/${name} included)
  string(STRIP "${included}" included)
  string(REPLACE "${include}" "${included}" text "${text}")
endforeach()
string(FIND "${text}" ")EMBED\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${INPUT} contains the end of a raw string")
endif()
# Compilers need not take literals above 64 KiB; ours do, and clang only says so.
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\nnamespace sluice::${NAMESPACE} {\n\nconst std::string_view ${NAME} = R\"EMBED(")
file(APPEND ${OUTPUT} "${text}")
file(APPEND ${OUTPUT} ")EMBED\";\n\n}  // namespace sluice::${NAMESPACE}\n")
