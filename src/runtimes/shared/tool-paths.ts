import { type Fields, text } from "./json-fields.ts";

/**
 * Every file that the input of a tool names. The programs have had several names for it, and a model may use more than one
 * of them: which one a program then goes by is not known here.
 */
export const pathsIn = (given: Fields): readonly string[] =>
  pathFields.flatMap((name) => [given[name]].flat().flatMap((value) => text(value) || []));

const pathFields = "file_path filePath path absolute_path absolutePath notebook_path target_file paths".split(" ");
