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
ov mail send --to <agent> --subject "Dates" --body "Use UTC"
\`\`\`

- Make tasks that can be done side by side: no two of them should own the same files.
- Do not wait in a loop. Agents write when they are done, stuck or have a question; check your mail at the start of a turn.
- Leave the worktrees below \`.overstory/\` to their agents: do not edit, move or delete anything there. Tell an agent by mail what to change.
- Do not merge agents' branches yourself. The merge queue lands them once the quality gates pass.
- A session that \`ov\` started itself follows the instructions it was started with, not this section.
`;
