import { sealWord } from "./seal.ts";

/** `.overstory/.gitignore`: what everyone shares is tracked, all else is this machine's own. */
export const ignoreText = `# ${sealWord}
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

/** `.overstory/README.md`: for whoever meets the directory without knowing the program. */
export const readmeText = `<!-- ${sealWord} -->
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
