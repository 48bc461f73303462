import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** One way to have a filter, and the name of the file that goes through it. */
export interface FilterCase {
  readonly file: string;
  readonly attributes: string;
  /** Whether the operator must confirm it, and under which name. */
  readonly confirm: readonly string[];
  /** Sets the filter up; runs in the repository. */
  readonly setUp: (project: TestProject) => Promise<void>;
  readonly needsLfs?: true;
}

const rot = "tr a-zA-Z n-za-mN-ZA-M";
const crypt = {
  clean: `perl -e 'binmode STDIN; binmode STDOUT; local $/; my $x = <STDIN>; $x = "" unless defined $x; print $x =~ /^\\0CRYPT/ ? $x : "\\0CRYPT" . ($x ^ ("\\xff" x length $x))'`,
  smudge: `perl -e 'binmode STDIN; binmode STDOUT; local $/; my $x = <STDIN>; $x =~ s/^\\0CRYPT//s or die "no key"; print $x ^ ("\\xff" x length $x)'`,
};

const configure = async (
  { git }: TestProject,
  scope: "--global" | "--local",
  name: string,
  keys: Readonly<Record<string, string>>,
): Promise<void> => {
  for (const [key, value] of Object.entries(keys)) await git("config", scope, `filter.${name}.${key}`, value);
};

/** Git LFS with a remote that is a directory. */
async function lfs(project: TestProject, ...options: readonly string[]): Promise<void> {
  const remote = join(project.home, "remote.git");
  await project.git("init", "--quiet", "--bare", remote);
  await project.git("remote", "add", "origin", `file://${remote}`);
  await project.git("lfs", "install", ...options);
}

export const filterCases: Readonly<Record<string, FilterCase>> = {
  "a filter of the user's own configuration": {
    file: "a.rot",
    attributes: "*.rot filter=rot\n",
    confirm: [],
    setUp: (project) => configure(project, "--global", "rot", { clean: rot, smudge: rot }),
  },
  "a filter of the repository's configuration": {
    file: "a.rot",
    attributes: "*.rot filter=rot\n",
    confirm: ["rot"],
    setUp: (project) => configure(project, "--local", "rot", { clean: rot, smudge: rot }),
  },
  "a required filter that makes bytes of text, as git-crypt does": {
    file: "a.key",
    attributes: "*.key filter=crypt diff=crypt\n",
    confirm: ["crypt"],
    setUp: (project) => configure(project, "--local", "crypt", { ...crypt, required: "true" }),
  },
  "Git LFS, installed for the user": {
    file: "a.bin",
    attributes: "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    confirm: [],
    setUp: (project) => lfs(project),
    needsLfs: true,
  },
  "Git LFS, installed with --local": {
    file: "a.bin",
    attributes: "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    confirm: ["lfs"],
    setUp: (project) => lfs(project, "--local"),
    needsLfs: true,
  },
  "Git LFS, without its process": {
    file: "a.bin",
    attributes: "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    confirm: [],
    setUp: async (project) => {
      await lfs(project);
      await project.git("config", "--global", "--unset", "filter.lfs.process");
    },
    needsLfs: true,
  },
  "text=auto with line ends of another system": {
    file: "a.txt",
    attributes: "* text=auto\n",
    confirm: ["git:attributes"],
    setUp: async ({ git }) => void (await git("config", "core.eol", "crlf")),
  },
  "eol=crlf": { file: "a.txt", attributes: "*.txt text eol=crlf\n", confirm: [], setUp: async () => {} },
};

/** A repository whose file went through the filter once, and is checked out as plain git does it. */
export async function filterProject(
  { file, attributes, setUp }: FilterCase,
  options: Parameters<typeof makeProject>[0] = {},
): Promise<TestProject> {
  // What the system has installed for everybody must not decide here.
  const project = await makeProject({ ...options, env: { GIT_CONFIG_NOSYSTEM: "1", ...options.env } });
  await setUp(project);
  writeFileSync(join(project.root, ".gitattributes"), attributes);
  writeFileSync(join(project.root, file), "Hello, filter\nsecond line\n");
  await project.git("add", ".gitattributes", file);
  await project.git("commit", "--quiet", "-m", "a file that goes through a filter");
  await project.git("rm", "--quiet", "--cached", file);
  await project.git("reset", "--quiet", "--hard");
  return project;
}
