import type { RoleSpec } from "../role-spec.ts";
import { roleList, toolsOf } from "../roles.ts";
import { failureLine } from "./facts.ts";
import { bullets, codes, numbered, paragraphs } from "./words.ts";

/** The page `docs/roles.md`. The same roles always give the same text. */
export function renderRoleDocs(): string {
  return `${paragraphs([
    "# Roles",
    "This page is generated from the roles; change them, not the page. `ov prompt show <capability>` prints what an agent is told.",
    overview(),
    ...roleList.flatMap(section),
  ])}\n`;
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
      `Expects: ${codes(awaits)}`,
      `Tools: ${codes(toolsOf(role, { expertise: false }))}; with expertise kept, also \`expertise_search\` and \`learn\``,
      `Commands: ${codes(commands.map((words) => `ov ${words}`))}`,
    ]),
    "Known mistakes:",
    bullets(failures.map(failureLine)),
  ];
}
