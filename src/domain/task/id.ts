/** The start of the ids of a project's tasks: its name, reduced to what file names and branches can hold. */
export function taskPrefix(projectName: string): string {
  const reduced = projectName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, maxPrefix)
    .replace(/-+$/, "");
  return reduced === "" ? "task" : reduced;
}

/** Leaves room for the dash and the longest random part within the 64 characters of a name. */
const maxPrefix = 40;
