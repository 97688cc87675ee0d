# Turns a text file into a C++ source that defines it as a std::string_view, so that the program needs no files:
#   cmake -DINPUT=page.html -DOUTPUT=page.cpp -DHEADER=cli/page.h -DNAME=kPage -P Embed.cmake
# The header declares `extern const std::string_view NAME` in namespace sluice::cli.
file(READ ${INPUT} text)
string(FIND "${text}" ")EMBED\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${INPUT} contains the end of a raw string")
endif()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nnamespace sluice::cli {\n\nconst std::string_view ${NAME} = R\"EMBED(")
file(APPEND ${OUTPUT} "${text}")
file(APPEND ${OUTPUT} ")EMBED\";\n\n}  // namespace sluice::cli\n")
