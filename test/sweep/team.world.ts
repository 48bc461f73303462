import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/**
 * A lead with two builders and a scout. The builders ask and leave a file uncommitted, are answered, delete that file,
 * commit, and report; the lead hands their branches over, which wait for the operator. The scout hangs until the operator
 * stops it. Every step may be repeated by a retried turn, as a careful agent would.
 */
const scenario = `
- when: { agent: lead1 }
  do:
    - shell: sh "$HOME/lead.sh"
- when: { agent: s1 }
  do:
    - touch: "\${env.HOME}/s1.hangs"
    - hang: true
- when: { capability: builder, input: the answer for }
  do:
    - waitFor: { file: "\${env.HOME}/go" }
    - edit: { file: "\${agent}.txt", write: "work of \${agent}\\n" }
    - shell: rm -f "notes-\${agent}.txt"
    - commit: "work of \${agent}"
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, "Done: \${task}", --body, "\${agent}.txt is there", --dedupe-key, done]
- when: { capability: builder }
  do:
    - edit: { file: "notes-\${agent}.txt", write: "thoughts of \${agent}\\n" }
    - ov: [mail, send, --to, lead1, --type, question, --subject, "Question of \${agent}", --body, which answer, --dedupe-key, question]
`;

/** What the lead does in every turn: whatever is still to be done. */
const lead = `
set -e
sling() { ov sling "$@" || ov status --json | grep -q "\\"$3\\""; }
firstId() { ov mail list --from "$1" --type "$2" --json | sed -n 's/.*"id":"\\(msg-[^"]*\\)".*/\\1/p'; }
if [ ! -e "$HOME/slung" ]; then
  sling B1 --name b1
  sling B2 --name b2
  sling S --name s1 --capability scout
  touch "$HOME/slung"
fi
for b in b1 b2; do
  [ -e "$HOME/$b.answered" ] && continue
  question=$(firstId "$b" question)
  [ -n "$question" ] || continue
  ov mail send --to "$b" --type status --subject "Hint for $b" --body "there is a hint" --dedupe-key "hint-$b"
  ov mail reply "$question" --body "the answer for $b is 42" || [ -n "$(firstId "$b" worker_done)" ]
  touch "$HOME/$b.answered"
done
if [ -n "$(firstId b1 worker_done)" ] && [ -n "$(firstId b2 worker_done)" ]; then
  for b in b1:B1 b2:B2; do
    branch="overstory/\${b%:*}/\${b#*:}"
    ov mail send --to operator --type merge_ready --subject "Ready: $branch" --body "$branch" --dedupe-key "ready-$b" \\
      --payload "{\\"branch\\":\\"$branch\\"}"
  done
  # Mail that came meanwhile is shown once, and then the report goes through.
  for try in 1 2 3 4 5; do
    ov mail send --to operator --type worker_done --subject "Done: L" --body "both are there" --dedupe-key done && exit 0
  done
  exit 1
fi
`;

/**
 * The team's project with its tasks, before anybody works on them. With a patient engine, whoever relies on its leaving
 * and coming back instead of on being woken shows.
 */
export async function teamProject({ patientEngine }: { readonly patientEngine: boolean }): Promise<TestProject> {
  const project = await makeProject({
    scenario,
    config: "mail:\n  coalesceMs: 50\n",
    env: patientEngine ? { OVERSTORY__ENGINE__IDLE_EXIT_MS: "120000" } : {},
  });
  writeFileSync(join(project.home, "lead.sh"), lead);
  for (const id of ["L", "B1", "B2", "S"]) await project.json("task", "create", `Task ${id}`, "--id", id);
  return project;
}
