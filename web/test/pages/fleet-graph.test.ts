import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { slingNew, untilAgent } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, seriousFindings } from "../live-page.ts";

/** Both change the same line; the second one writes to the first. */
const scenario = `
- when: { agent: b2 }
  do:
    - edit: { file: menu.txt, write: "b2\\n" }
    - commit: work of b2
    - ov: [mail, send, --to, b1, --type, status, --subject, Menu, --body, I change the menu]
    - ov: [mail, send, --to, operator, --type, question, --subject, Wait, --body, until told]
- do:
    - edit: { file: menu.txt, write: "\${agent}\\n" }
    - commit: "work of \${agent}"
    - ov: [mail, send, --to, operator, --type, question, --subject, Wait, --body, until told]
`;

describe.skipIf(browserProgram === undefined)("the fleet as a drawing", () => {
  let project: TestProject;
  let live: LivePage;

  beforeAll(async () => {
    project = await makeProject({ files: { "menu.txt": "menu\n" }, scenario });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "between_turns");
    await slingNew(project, "B2");
    await untilAgent(project, "b2", "between_turns");
    live = await openPage(project);
    live.page.setDefaultTimeout(10_000);
  }, 60_000);
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const edge = (id: string) => live.page.locator(`.react-flow__edge[data-id="${id}"]`);
  const facts = (name: string) => live.page.getByRole("list", { name: `Links of ${name}` });

  test("mail of the last minutes and colliding files join two agents, and the list beside says the same", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/fleet?view=graph`);
    await facts("b1").getByText("1 message with b2 in the last 10 minutes").waitFor();
    await facts("b2").getByText("1 message with b1 in the last 10 minutes").waitFor();
    await facts("b1").getByText("collides with b2 in 1 file: menu.txt").waitFor();
    await edge("mail b1 b2").waitFor({ state: "attached" });
    await edge("overlap b1 b2").getByText("1 file").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  }, 60_000);

  test("each kind is switched off, and the address says which", async () => {
    const { page, origin } = live;
    await page.getByRole("checkbox", { name: "Mail of 10 min" }).uncheck();
    await page.waitForURL(/without=mail(&|$)/);
    await page.getByRole("checkbox", { name: "Collisions" }).uncheck();
    await page.waitForURL(/without=mail,overlap/);
    await edge("mail b1 b2").waitFor({ state: "detached" });
    expect(await page.getByText("1 message with").count()).toBe(0);
    await page.goto(`${origin}/fleet?view=graph&without=overlap`);
    await edge("mail b1 b2").waitFor({ state: "attached" });
    expect(await edge("overlap b1 b2").count()).toBe(0);
    expect(await page.getByRole("checkbox", { name: "Collisions" }).isChecked()).toBe(false);
  }, 60_000);

  test("Enter on an agent of the drawing, or a press on its name in the list, opens its short view", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/fleet?view=graph`);
    await page.locator(".react-flow__node[data-id=b2]").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "agent b2" }).waitFor();
    await page.getByRole("region", { name: "Agents and their links" }).getByRole("button", { name: "b1" }).click();
    await page.getByRole("complementary", { name: "agent b1" }).waitFor();
    expect(live.complaints).toEqual([]);
  }, 60_000);

  test("an agent that was moved by hand stays there, also when others come, until all are laid out again", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/fleet?view=graph`);
    const node = (name: string) => page.locator(`.react-flow__node[data-id=${name}]`);
    const place = async (name: string) =>
      /translate\([^)]*\)/.exec((await node(name).getAttribute("style")) ?? "")?.[0];
    await node("b2").waitFor();
    const before = await place("b2");
    const box = await node("b2").boundingBox();
    if (box === null) throw new Error("b2 is not drawn");
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 80, box.y + 90, { steps: 5 });
    await page.mouse.up();
    const after = await place("b2");
    expect(after).not.toBe(before);
    await slingNew(project, "B3");
    await node("b3").waitFor();
    expect(await place("b2")).toBe(after);
    await page.reload();
    await node("b2").waitFor();
    expect(await place("b2")).toBe(after);
    await node("b2").focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await project.until("the key moved b2", async () => (await place("b2")) !== after);
    const byKey = await place("b2");
    await page.getByRole("button", { name: "Lay out again" }).click();
    await project.until("b2 is laid out again", async () => (await place("b2")) !== byKey);
    expect(await page.getByRole("button", { name: "Lay out again" }).count()).toBe(0);
  }, 60_000);
});
