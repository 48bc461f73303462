import { exactShellWord } from "../../domain/text/shell-word.ts";
import { type Fields, text } from "./json-fields.ts";

/**
 * Every file that the input of a tool names. The programs have had several names for it, and a model may use more than one
 * of them: which one a program then goes by is not known here.
 */
export const pathsIn = (given: Fields): readonly string[] =>
  pathFields.flatMap((name) => [given[name]].flat().flatMap((value) => text(value) || []));

const pathFields =
  `file_path filePath path absolute_path absolutePath notebook_path target_file paths file files filename destination dest
  old_path new_path oldPath newPath output_path outputPath`.split(/\s+/);

/** The shell command that the input of a tool names, by any of the names that tools have for it. */
export function commandIn(given: Fields): string | undefined {
  for (const name of commandFields) {
    const value = given[name];
    if (Array.isArray(value) && value.length > 0) return value.map((word) => exactShellWord(String(word))).join(" ");
    if (text(value)) return text(value);
  }
  return undefined;
}

const commandFields = "command cmd commandLine command_line shell_command shellCommand script".split(" ");
