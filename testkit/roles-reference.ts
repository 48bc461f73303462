import { readOnlyCommands } from "../src/domain/guard/read-only-git.ts";
import { readOnlyPrograms } from "../src/domain/guard/read-only-programs.ts";
import { mailTypes } from "../src/domain/mail/types.ts";
import { bullets, codes, numbered, paragraphs } from "../src/domain/role/render/markdown.ts";
import { failureLine } from "../src/domain/role/render/prompt.ts";
import type { RoleSpec } from "../src/domain/role/role-spec.ts";
import { roleList, toolsOf } from "../src/domain/role/roles.ts";

/** The page `docs/roles.md`. The same roles always give the same text. */
export function renderRoleDocs(): string {
  return `${paragraphs([
    "# Roles",
    "This page is generated from the roles; change them, not the page. `ov prompt show <capability>` prints what an agent is told.",
    overview(),
    ...roleList.flatMap(section),
    ...guards(),
  ])}\n`;
}

/** The rules that follow from a role's access, as the guard applies them. */
function guards(): readonly string[] {
  return [
    "## Guards",
    "Before an agent's program uses a tool, `ov hook pre-tool` asks one function whether it may, by rules made from the role above. A denial says why and is on record as `guard_denied`. It is a fence, not a wall: a program that an agent wrote itself is not looked into.",
    bullets([
      "Everybody: no tools that start agents or wait for a person; no push, no publishing; no git command that throws work away, leaves the agent's own branch or changes what all worktrees share; no change of `.git`, `.overstory`, the instruction file or the settings of the agent's program.",
      "`scoped-write`: edits and commands that change files stay inside the worktree or a temporary directory. Code for an interpreter on the command line is denied, and so is what cannot be told before it runs. A file outside the scope is only remarked upon: the completion step asks for a reason.",
      "`read-only`: no edits, no output to files, and only programs that are known to look. Roles that may run gates may run those, with any words after them.",
    ]),
    `Programs that look: ${codes(readOnlyPrograms)}; of git: ${codes(readOnlyCommands)}.`,
  ];
}

function overview(): string {
  const rows = roleList.map(({ capability, access, spawns, terminal }) =>
    [
      capability,
      access.files,
      access.place === "root" ? "project root" : "own worktree",
      spawns.length === 0 ? "nobody" : spawns.join(", "),
      terminal.length === 0 ? "does not end by itself" : terminal.map((type) => `\`${type}\``).join(", "),
    ].join(" | "),
  );
  const head = ["| Role | Files | Place | May sling | Ends with |", "| --- | --- | --- | --- | --- |"];
  return [...head, ...rows.map((row) => `| ${row} |`)].join("\n");
}

function section(role: RoleSpec): readonly string[] {
  const { capability, job, phases, sends, awaits, commands, failures } = role;
  return [
    `## ${capability}`,
    `${job.charAt(0).toUpperCase()}${job.slice(1)}.`,
    numbered(phases.map(({ name, does }) => `**${name}**: ${does}.`)),
    bullets([
      `Sends: ${codes(sends)}`,
      `Expects: ${codes(mailTypes.filter((type) => awaits.includes(type)))}`,
      `Tools: ${codes(toolsOf(role, { expertise: false }))}; with expertise kept, also \`expertise_search\` and \`learn\``,
      `Commands: ${codes(commands.map((words) => `ov ${words}`))}`,
    ]),
    "Known mistakes:",
    bullets(failures.map(failureLine)),
  ];
}
