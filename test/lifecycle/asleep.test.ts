import { test } from "bun:test";
import { makeProject } from "../../testkit/project.ts";

const handOver = (branch: string): string =>
  `ov mail send --to coordinator --type merge_ready --subject ${branch} --body read --payload '{"branch":"${branch}"}'`;

const builder = `
- when: { agent: b1 }
  do:
    - edit: { file: one.txt, write: "one\\n" }
    - commit: one
    - ov: [done, --summary, one]
`;

/** The lead never answers what the coordinator asked, and finishes while its builder's branch lands. */
const unanswered = `
- when: { capability: coordinator, turn: 1 }
  do:
    - shell: |
        ov task create "Lead it" --id L1
        ov sling L1 --capability lead --name lead-1
        ov mail send --to lead-1 --type question --subject "how far?" --body "how far are you?"
- when: { capability: coordinator }
  do:
    - shell: ov run complete || true
- when: { capability: lead, turn: 1 }
  do:
    - shell: |
        ov mail check
        ov task create "Build it" --id T1
        ov sling T1 --name b1 --files one.txt
- when: { capability: lead, input: "worker_done" }
  do:
    - shell: |
        ${handOver("overstory/b1/T1")}
        ov done --summary "all of it"
- when: { capability: lead }
  do:
    - shell: ov mail check
${builder}`;

/** The coordinator sees the report of its builder while it works, and ends its turn without a decision. */
const readEarly = `
- when: { capability: coordinator, turn: 1 }
  do:
    - shell: |
        ov task create "Build it" --id T1
        ov sling T1 --name b1 --files one.txt
        until ov mail check | grep worker_done; do sleep 0.1; done
        until ov status --all --json | grep '"completed"'; do sleep 0.1; done
- when: { capability: coordinator, turn: 2 }
  do:
    - shell: ov mail send --to operator --type merge_ready --subject b1 --body read --payload '{"branch":"overstory/b1/T1"}'
- when: { capability: coordinator }
  do:
    - shell: ov run complete || true
${builder}`;

test.each([
  ["got no answer to its question", unanswered],
  ["read the last report before its turn ended", readEarly],
])(
  "the run of a coordinator that %s does not fall asleep",
  async (_, scenario) => {
    await using project = await makeProject({ scenario, gates: ["sleep 1"] });
    await project.json("coordinator", "start");
    const isOver = async () => (await project.read((tx) => tx.runs.list(1)))[0]?.status === "completed";
    await project.until("the run was over", isOver, 100_000);
  },
  120_000,
);
