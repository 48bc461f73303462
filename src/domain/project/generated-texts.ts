import { renderManifest } from "../role/render/manifest.ts";
import { type Digest, sealed, sealWord } from "./generated-state.ts";

/** The files in `.overstory/` that come from the program, each by the name an update reports it under. */
export const generatedNames = {
  gitignore: ".gitignore",
  readme: "README.md",
  manifest: "agent-manifest.json",
} as const;
export type GeneratedFile = keyof typeof generatedNames;

/** Their texts, sealed. */
export const generatedFiles = (digest: Digest): Readonly<Record<GeneratedFile, string>> => ({
  gitignore: sealed(ignoreText, digest),
  readme: sealed(readmeText, digest),
  // Readers of JSON overlook keys they do not know, and this one has the name for remarks.
  manifest: sealed(`${JSON.stringify({ $comment: sealWord, ...renderManifest() }, null, 2)}\n`, digest),
});

/** The section of the instruction file, sealed. */
export const sealedGuide = (digest: Digest): string => sealed(`<!-- ${sealWord} -->\n${orchestratorGuide}`, digest);

/** `.overstory/.gitignore`: shared files are tracked, all others belong to this machine. */
const ignoreText = `# ${sealWord}
# Shared with everyone who works on this project; all else belongs to this machine alone.
*
!.gitignore
!config.yaml
!README.md
!agent-defs/
!agent-defs/**
!groups.json
!agent-manifest.json
!hooks.json
`;

/** `.overstory/README.md`: for a reader who meets the directory without knowing the program. */
const readmeText = `<!-- ${sealWord} -->
# .overstory

Overstory (\`ov\`) lets a team of coding agents work on this repository, each in a git worktree of its own. This
directory holds its settings and the worktrees. Its state (agents, tasks, mail, history, logs) is in \`ov-state/\` of the git
directory, where no branch and no \`git clean\` reaches it. \`ov update\` brings what the program wrote here up to date.

| Here | What it is | In git |
| --- | --- | --- |
| \`config.yaml\` | settings of the project; \`ov config list\` explains them all | yes |
| \`agent-defs/\` | texts of your own for the roles of agents, when there are any; see \`ov prompt --help\` | yes |
| \`agent-manifest.json\` | the roles of agents, for programs that read it | yes |
| \`config.local.yaml\` | settings of this machine alone, when there are any | no |
| \`specs/\` | specifications of tasks | no |
| \`worktrees/\` | where agents work; remove them with \`ov\`, not by hand | no |

Start with \`ov status\`.
`;

/**
 * What a person's own coding session must know to lead a team: put into the instruction file its program reads. ASCII
 * only, because it is spliced into files of any encoding.
 */
export const orchestratorGuide = `## Overstory

In this project you can hand work to a team of coding agents with the command \`ov\`. You are then the orchestrator:
you divide the work, start the agents and answer them. Each agent works in a git worktree of its own.

\`\`\`sh
ov task create "Parse ISO dates" --files src/dates.ts    # write down one unit of work; prints its id
ov sling <task-id> --capability builder                  # give it to a new agent; returns at once
ov status                                                # who is working, waiting or done
ov mail check                                            # read what the agents wrote to you
ov mail send --to <agent> --subject "Dates" --body "Use UTC"   # it reads this before it can finish; an idle agent is woken
\`\`\`

- Make tasks that can be done side by side: no two of them should own the same files.
- Do not wait in a loop. Agents write when they are done, stuck or have a question; check your mail at the start of a turn.
- Leave the worktrees below \`.overstory/\` to their agents: do not edit, move or delete anything there. Tell an agent by mail what to change.
- Do not merge agents' branches yourself. The merge queue lands them once the quality gates pass.
- A session that \`ov\` started itself follows the instructions it was started with, not this section.
`;
