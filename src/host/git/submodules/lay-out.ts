import { copyFileSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expectGit, runGit } from "../git.ts";
import { makeGitDirectories, type Repository } from "../repository.ts";
import { openRefs } from "./users-module.ts";

export interface ModuleLayout {
  /** Where the git directory is made. */
  readonly dir: string;
  /** Where it will be; the two are equally deep. */
  readonly finalDir: string;
  readonly workTree: string;
  readonly commit: string;
  /** The user's module. */
  readonly module: Repository;
  readonly scratch: string;
}

/**
 * Makes the git directory of a submodule as a shared clone of the user's module: it reads the objects of that, has its
 * refs and its remote, and is at one commit. By hand rather than by `git clone`, which would run what the user's module
 * is configured to run.
 */
export async function layOutModule(layout: ModuleLayout): Promise<void> {
  const { dir, finalDir, workTree, commit, module, scratch } = layout;
  makeGitDirectories(dir);
  writeFileSync(join(dir, "objects", "info", "alternates"), `${module.objects}\n`);
  for (const name of [join("info", "exclude"), "shallow"]) copyIfFile(module.commonDir, dir, name);
  const [settings, refs] = await Promise.all([settingsOf(module), refsOf(module, scratch)]);
  writeFileSync(
    join(dir, "config"),
    configText(module, [["core.worktree", relative(finalDir, workTree)], ...settings]),
  );
  for (const { name, target } of refs.symbolic) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), `ref: ${target}\n`);
  }
  writeFileSync(join(dir, "packed-refs"), refs.plain);
  writeFileSync(join(dir, "HEAD"), `${commit}\n`);
}

/** Says in the submodule's directory where its git directory is. Git writes the path so that both can be moved together. */
export const writeLink = (workTree: string, gitDir: string): void =>
  writeFileSync(join(workTree, ".git"), `gitdir: ${relative(workTree, gitDir)}\n`);

type Setting = readonly [key: string, value: string];

/** What the agent's own git needs to behave as the user's does there. Hooks and commands of git itself are not copied. */
async function settingsOf(module: Repository): Promise<readonly Setting[]> {
  const file = join(module.commonDir, "config");
  // From where there is no repository: that of the module may name a work tree that is not there.
  const answer = await runGit({ cwd: "/", args: ["config", "-z", "--file", file, "--list"] });
  const found = expectGit(answer, `reading ${file}`)
    .out.split("\0")
    .flatMap((entry): Setting[] => {
      const [, key = "", value] = /^([^\n]+)(?:\n(.*))?$/s.exec(entry) ?? [];
      return copied.some((rule) => rule.test(key)) ? [[key, value ?? "true"]] : [];
    });
  const large = join(module.commonDir, "lfs");
  const hasStorage = found.some(([key]) => key === "lfs.storage");
  return existsSync(large) && !hasStorage ? [...found, ["lfs.storage", large]] : found;
}

const copied = [
  /^core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|safecrlf|logallrefupdates)$/,
  /^remote\..+\.(url|fetch|tagopt)$/s,
  /^branch\..+\.(remote|merge)$/s,
  /^submodule\..+\.(url|active|branch)$/s,
  /^user\.(name|email)$/,
  /^filter\..+\.(clean|smudge|process|required)$/s,
  /^lfs\./,
];

/** The text of a configuration file; git's own command would be one process for each setting. */
export function configText({ objectFormat }: Pick<Repository, "objectFormat">, settings: readonly Setting[]): string {
  const isPlain = objectFormat === "sha1";
  const fixed: readonly Setting[] = [
    ["core.repositoryFormatVersion", isPlain ? "0" : "1"],
    ["core.bare", "false"],
    ...(isPlain ? [] : [["extensions.objectFormat", objectFormat] as const]),
  ];
  return [...fixed, ...settings].map(settingText).join("");
}

function settingText([key, value]: Setting): string {
  const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
  const inner = first === last ? "" : ` "${key.slice(first + 1, last).replace(/["\\]/g, "\\$&")}"`;
  const quoted = value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `[${key.slice(0, first)}${inner}]\n\t${key.slice(last + 1)} = "${quoted}"\n`;
}

/** Branches, tags and what the remote had. */
async function refsOf(module: Repository, scratch: string) {
  using own = openRefs(module, scratch);
  const args = ["for-each-ref", "--format=%(objectname) %(refname)%00%(symref)"];
  const answer = await own.git([...args, "refs/heads/", "refs/remotes/", "refs/tags/"]);
  const lines = expectGit(answer, "listing the refs of a submodule")
    .out.split("\n")
    .filter((line) => line !== "");
  const refs = lines.map((line) => {
    const [plain = "", target = ""] = line.split("\0");
    return { plain, name: plain.slice(plain.indexOf(" ") + 1), target };
  });
  return {
    plain: refs.flatMap(({ plain, target }) => (target === "" ? [`${plain}\n`] : [])).join(""),
    symbolic: refs.filter(({ target }) => target !== ""),
  };
}

function copyIfFile(from: string, to: string, name: string): void {
  const path = join(from, name);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) copyFileSync(path, join(to, name));
}
