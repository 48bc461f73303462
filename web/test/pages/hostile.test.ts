import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { slingNew, untilAgent } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

const html = '<img src="//evil.example/a" onerror="window.hacked=1"><script>window.hacked=1</script>';
const markdown = "[click](javascript:window.hacked=1) ![x](http://evil.example/x.png) <iframe src=//evil.example>";
const ansi = "\u001b]0;title\u0007\u001b[31mred\u001b[2J\u009b5n";
const turned = "\u202egpj.exe\u2066";
const hostile = `${html} ${markdown} ${ansi} ${turned} ${"long".repeat(200)}`;
const file = `<img src=x onerror=hacked(1)> ${turned}.txt`;
const branch = "x/<img/src=x/onerror=alert(1)>-\u202egpj";

const scenario = `
- do:
    - say: ${JSON.stringify(hostile)}
    - shell: ${JSON.stringify(`printf '%s\\n' '${html}' > '${file}' && git add -A && git commit -qm '${html}'`)}
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, ${JSON.stringify(`${html} ${turned}`)}, --body, ${JSON.stringify(hostile)}, --payload, ${JSON.stringify(JSON.stringify({ options: [html, turned], [html]: html }))}]
    - ov: [done, --summary, ${JSON.stringify(hostile.slice(0, 400))}]
`;

describe.skipIf(browserProgram === undefined)("what agents and repositories can write, on the page", () => {
  let project: TestProject;
  let live: LivePage;
  const elsewhere: string[] = [];

  beforeAll(async () => {
    project = await makeProject({ scenario, gates: [`echo '${html}' && printf '\\033[31mred\\033]0;x\\007'`] });
    await project.json("task", "create", `${html} ${turned}`, "--id", "H1", "--description", hostile);
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "completed/done");
    await project.git("checkout", "--quiet", "-b", branch, "main");
    await Bun.write(`${project.root}/README.md`, `${hostile}\n`);
    await project.git("commit", "--quiet", "-am", hostile);
    await project.git("checkout", "--quiet", "main");
    await project.json("merge", "add", branch);
    live = await openPage(project);
    live.page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== live.origin && protocol !== "blob:") elsewhere.push(request.url());
    });
  }, 90_000);
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const until = (condition: string): Promise<void> =>
    project.until(condition, () => live.page.evaluate<boolean>(condition));

  test("words stay words on every page: nothing of them runs, loads, leads astray or breaks the layout", async () => {
    const { page, origin } = live;
    const [letter] = await project.read((tx) => tx.messages.list({ from: "b1", type: "decision_gate" }));
    const [merge] = await project.read((tx) => tx.merges.list({ branch }));
    const addresses: Readonly<Record<string, string>> = {
      "/": "<script>window.hacked",
      "/fleet?done=shown": "b1",
      "/agents/b1": "<script>window.hacked",
      "/agents/b1?tab=changes": "<img src=x onerror=hacked(1)>",
      "/agents/b1?tab=files": "b1",
      "/agents/b1?tab=mail": "<script>window.hacked",
      "/agents/b1?tab=transcript": "<script>window.hacked",
      [`/mail?box=all&thread=${letter?.threadId}`]: "<script>window.hacked",
      "/tasks": "<script>window.hacked",
      "/tasks?task=H1&peek=task:H1": "<script>window.hacked",
      "/merge": "<img/src=x/onerror=alert(1)>",
      [`/merge/${merge?.id}`]: "<img/src=x/onerror=alert(1)>",
      [`/merge/${merge?.id}?tab=diff`]: "<script>window.hacked",
      "/review/b1": "<script>window.hacked",
      "/coordinator": "Coordinator",
      "/runs": "Runs",
    };
    for (const [address, words] of Object.entries(addresses)) {
      await page.goto(origin + address);
      await until(`document.body.textContent.includes(${JSON.stringify(words)})`);
      await page.waitForTimeout(300);
      const seen = await page.evaluate<object>(`({
        hacked: window.hacked ?? null,
        foreign: document.querySelectorAll("img, iframe, object, embed, body script").length,
        links: [...document.links].filter(({ protocol }) => !/^(https?|mailto):$/.test(protocol)).map(({ href }) => href),
        width: document.documentElement.scrollWidth,
        title: document.title.includes("red"),
      })`);
      expect([address, seen]).toEqual([address, { hacked: null, foreign: 0, links: [], width: 1280, title: false }]);
    }
    // Names are shown with the signs that would turn them around.
    await page.goto(`${origin}/merge/${merge?.id}`);
    await until('document.body.textContent.includes("\\\\u{202e}gpj")');
    expect(elsewhere).toEqual([]);
    expect(live.complaints).toEqual([]);
  }, 90_000);
});
