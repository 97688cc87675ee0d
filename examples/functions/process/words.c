// A program for runtime process in C: how many words a text has.
//   cc -O2 -o words words.c      then, in the document: command: [/path/to/words]
// It answers the input "text" with {"words": N}, or {"error": "NoText: …"}. A real program uses a JSON library; this one
// finds its only input by hand and takes escapes (\n, \u0041) as part of a word.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  FILE* answers = fdopen(3, "w");
  char* line = NULL;
  size_t room = 0;
  if (answers == NULL) return 2;
  while (getline(&line, &room, stdin) > 0) {
    const char* text = strstr(line, "\"text\":\"");
    int words = 0, inside = 0;
    if (text == NULL) {
      fputs("{\"error\":\"NoText: there is no input text\"}\n", answers);
    } else {
      for (text += strlen("\"text\":\""); *text != '"' && *text != '\0'; ++text) {
        if (*text == '\\' && text[1] != '\0') ++text;
        if (isspace((unsigned char)*text)) {
          inside = 0;
        } else if (!inside) {
          inside = 1;
          ++words;
        }
      }
      fprintf(answers, "{\"words\":%d}\n", words);
    }
    fflush(answers);  // one line for each line, at once
  }
  free(line);
  return 0;
}
