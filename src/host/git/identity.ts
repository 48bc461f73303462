import { join } from "node:path";
import { readText, statIfThere } from "../file-access.ts";
import { runGit } from "./git.ts";
import { commonDirOf } from "./places.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables by which git knows who commits, or where the user's configuration is. */
export function identityVariables(env: Environment): Readonly<Record<string, string>> {
  const wanted =
    /^(GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL)|EMAIL|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|HOME|XDG_CONFIG_HOME)$/;
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && wanted.test(name) ? [[name, value]] : [])),
  );
}

/**
 * Why agents with these variables could commit nothing in this repository: git does not know who commits. Undefined where
 * it does. Each sling asks, so the files in which a person usually has it are read first; only then is git asked.
 */
export async function unknownCommitter(root: string, env: Environment): Promise<string | undefined> {
  if (configFiles(root, env).some((path) => namesUser(textIfFile(path)))) return undefined;
  // Agents do not get the variable EMAIL.
  const { EMAIL: _, ...variables } = identityVariables(env);
  for (const ident of ["GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"]) {
    const { code, err } = await runGit({ cwd: root, args: ["var", ident], env: variables });
    const lines = err.split("\n").map((line) => line.trim());
    if (code !== 0) return lines.find((line) => line.startsWith("fatal:")) ?? "git gave no reason";
  }
  return undefined;
}

/**
 * The author of commits in this directory, with these variables, as variables that settings cannot overrule. Empty
 * where unknown.
 */
export async function authorVariables(cwd: string, env: Environment): Promise<Readonly<Record<string, string>>> {
  const variables = identityVariables(env);
  const found: Record<string, string> = {};
  for (const role of ["AUTHOR", "COMMITTER"]) {
    const { code, out } = await runGit({ cwd, args: ["var", `GIT_${role}_IDENT`], env: variables });
    const [, name, email] = /^(.*) <(.*)> \d+ [+-]\d+$/.exec(out.trim()) ?? [];
    if (code !== 0 || name === undefined || email === undefined) return {};
    found[`GIT_${role}_NAME`] = name;
    found[`GIT_${role}_EMAIL`] = email;
  }
  return found;
}

/** `GIT_CONFIG_GLOBAL=/dev/null` is the usual way to have none. */
const textIfFile = (path: string): string => (statIfThere(path)?.isFile() === true ? (readText(path) ?? "") : "");

function configFiles(root: string, { HOME, XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL }: Environment): readonly string[] {
  const common = commonDirOf(root);
  const own = common === undefined ? [] : [join(common, "config")];
  if (GIT_CONFIG_GLOBAL !== undefined) return [...own, GIT_CONFIG_GLOBAL];
  const home = HOME === undefined ? [] : [join(HOME, ".gitconfig")];
  const xdg = XDG_CONFIG_HOME ?? (HOME === undefined ? undefined : join(HOME, ".config"));
  return [...own, ...home, ...(xdg === undefined ? [] : [join(xdg, "git", "config")])];
}

/** Does this text of a configuration have both a name and an address in its section `user`? */
function namesUser(config: string): boolean {
  const sections = config.split(/^[ \t]*(?=\[)/m).filter((section) => /^\[user\]/i.test(section));
  const has = (key: string): boolean =>
    sections.some((section) => new RegExp(`^\\s*${key}\\s*=\\s*\\S`, "im").test(section));
  return has("name") && has("email");
}
