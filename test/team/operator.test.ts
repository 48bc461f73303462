import { expect, test } from "bun:test";
import { promptsOf, untilTurns } from "../../testkit/lifecycle.ts";
import { jsonOf, ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";

const asking = `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, status, --subject, News, --body, I have begun]
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, Which database?, --body, Both would do, --payload, '{"options":["Postgres","SQLite"]}']
    - say: I wait for a word.
- when: { capability: coordinator }
  do: [{ say: Thank you. }]
`;

test("a decision waits in the inbox and in the status, is made there, and wakes whoever asked", async () => {
  await using project = await makeProject({ scenario: asking });
  await project.json("coordinator", "start");
  await untilTurns(project, "coordinator", 1);
  const peeked = await project.json("inbox", "--peek");
  const [decision] = peeked.decisions as { id: string }[];
  expect(peeked.decisions).toMatchObject([{ from: "coordinator", kind: "decision", options: ["Postgres", "SQLite"] }]);
  expect(peeked.messages).toMatchObject([{ subject: "News", read: false }]);
  const id = decision?.id ?? "";

  const status = await project.json("status");
  expect(status).toMatchObject({ needsOperator: true, decisions: [{ id, from: "coordinator" }] });
  expect((await project.ov("status")).out).toContain(`ov decide ${id}`);
  expect(await project.json("coordinator", "status")).toMatchObject({ runStatus: "needs operator" });

  const shown = await project.ov("inbox");
  expect(shown.out).toContain("1 decision for you");
  expect(shown.out).toContain("Options: Postgres | SQLite");
  expect(shown.out).toContain("I have begun");
  const again = await project.json("inbox");
  expect(again.messages).toEqual([]);
  expect(again.decisions).toHaveLength(1);

  const bare = await project.ov("decide");
  expect([bare.code, bare.err]).toEqual([2, expect.stringContaining(`id is needed; open is ${id} (`)]);
  const noOption = await project.ov("decide", id);
  expect(noOption.code).toBe(2);
  expect(noOption.err).toMatch(new RegExp(`option is needed for ${id}[^]*use Postgres or SQLite`));
  const wrong = await project.ov("decide", id, "Oracle", "--json");
  expect(wrong.code).toBe(2);
  expect(String(jsonOf(wrong).hint)).toContain("Postgres");
  expect(await project.json("decide", id, "1", "--note", "we run it")).toMatchObject({ option: "Postgres" });
  await untilTurns(project, "coordinator", 2);
  expect(promptsOf(project, "coordinator")[1]).toContain("we run it");
  expect((await project.json("inbox")).decisions).toEqual([]);
  expect((await project.json("status")).needsOperator).toBe(false);
}, 60_000);

test("an agent neither sees the operator's inbox nor decides for them", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - shell: ov inbox --json > "$HOME/inbox"; ov decide merge:1 approve --json > "$HOME/decide"; true
`,
  });
  await project.json("coordinator", "start");
  await untilTurns(project, "coordinator", 1);
  for (const file of ["inbox", "decide"]) {
    expect(await Bun.file(`${project.home}/${file}`).text()).toContain("PERMISSION_ERROR");
  }
}, 60_000);

test("a discovery is a coordinator with a brief, and a supervisor is a lead with a notice", async () => {
  await using project = await makeProject({ scenario: '- do: [{ say: "Looking." }]\n' });
  expect((await project.ov("discover", "--skip", "nothing")).code).toBe(2);
  const unasked = await project.ov("discover", "--skip", "config,implicit", "--json");
  expect([unasked.code, jsonOf(unasked).error]).toEqual([2, expect.stringContaining("needs --yes")]);
  expect((await project.json("status", "--all")).agents).toEqual([]);
  const found = await project.json("discover", "--skip", "config,implicit", "--yes");
  expect(found).toMatchObject({
    agentName: "discover-coordinator",
    capability: "coordinator",
    categories: ["architecture", "dependencies", "testing", "apis"],
  });
  // Nothing is built, so nothing that landed could ever prove a criterion.
  expect((await project.json("run", "criteria")).criteria).toEqual([]);
  await untilTurns(project, "discover-coordinator", 1);
  const [prompt] = promptsOf(project, "discover-coordinator");
  expect(prompt).toContain("- testing:");
  expect(prompt).not.toContain("- config:");

  await project.json("task", "create", "Lead this", "--id", "L1");
  const started = await project.ov("supervisor", "start", "--task", "L1", "--name", "boss", "--json");
  expect(started.code).toBe(0);
  expect(started.err).toContain("a supervisor is a lead now");
  expect(jsonOf(started)).toMatchObject({ agentName: "boss", capability: "lead", taskId: "L1" });
  expect((await project.json("supervisor", "status")).supervisors).toMatchObject([{ agentName: "boss" }]);
  expect(await project.json("supervisor", "stop", "--name", "boss")).toMatchObject({ agentName: "boss" });
}, 60_000);

test("the adviser counts what may run side by side", async () => {
  await using project = await makeProject({});
  for (const id of ["A", "B", "C"])
    await project.json("task", "create", `Task ${id}`, "--id", id, "--files", `${id}.ts`);
  await project.json("task", "create", "Both", "--id", "D", "--files", "A.ts,D.ts");
  await project.json("task", "dep", "add", "C", "B");
  const advised = await project.json("advise");
  expect(advised).toMatchObject({
    verdict: "parallel",
    openTasks: 4,
    builders: 2,
    criticalPath: ["B", "C"],
    clusters: [{ tasks: ["A", "D"], file: "A.ts" }],
  });
  expect((await project.ov("advise")).out).toContain("2 builders at once");
});

test("mail that goes to a pipe stays unread, because its reader may take only the beginning", async () => {
  await using project = await makeProject({});
  for (const n of [1, 2, 3]) {
    await project.json("mail", "send", "--to", "operator", "--subject", `Word ${n}`, "--body", "x", "--type", "status");
  }
  const shell = async (line: string): Promise<string> => {
    const child = Bun.spawn({
      cmd: ["sh", "-c", line, "sh", ovBinary()],
      cwd: project.root,
      env: { ...project.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Response(child.stdout).text();
  };
  const unread = async () => (await project.json("status")).unreadMailCount;
  expect(await shell('"$1" inbox | head -n 3')).toContain("3 new messages");
  expect(await unread()).toBe(3);
  expect(await shell('"$1" mail check | head -n 1')).toContain("3 new messages for operator");
  expect(await unread()).toBe(3);
  expect(await shell('"$1" inbox --read | cat')).toContain("Word 3");
  expect(await unread()).toBe(0);
  await project.json("mail", "send", "--to", "operator", "--subject", "Word 4", "--body", "x", "--type", "status");
  expect(await shell('"$1" mail check --read | cat')).toContain("Word 4");
  expect(await unread()).toBe(0);
}, 60_000);
