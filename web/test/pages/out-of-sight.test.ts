import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { slingNew } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

const ask = (subject: string): string =>
  `ov: [mail, send, --to, operator, --type, decision_gate, --subject, "${subject}", --body, b, --payload, '{"options":["yes","no"]}']`;
const scenario = `
- when: { agent: b1 }
  do:
    - ${ask("First")}
- when: { agent: b2 }
  do:
    - ${ask("Second")}
- do: []
`;

/** Stands in for the notifications of the browser, which no test can see. */
const standIn = `(() => {
  window.told = [];
  window.Notification = class {
    static permission = "default";
    static async requestPermission() { return (this.permission = "granted"); }
    constructor(title, { body }) { window.told.push(title + ": " + body); }
  };
  let seen = "visible";
  Object.defineProperty(document, "visibilityState", { get: () => seen, configurable: true });
  window.look = (to) => { seen = to; document.dispatchEvent(new Event("visibilitychange")); };
})()`;

describe.skipIf(browserProgram === undefined)("a page that nobody looks at", () => {
  let project: TestProject;
  let live: LivePage;

  beforeAll(async () => {
    project = await makeProject({ scenario });
    live = await openPage(project);
    await live.page.evaluate(standIn);
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });
  const until = (condition: string): Promise<void> =>
    project.until(condition, () => live.page.evaluate<boolean>(condition));
  const icon = (): Promise<string> => live.page.evaluate("document.querySelector('link[rel=icon]').href");

  test("the browser is asked once the first notification would have been of use, then tells of each thing once", async () => {
    const { page } = live;
    expect(await icon()).toEndWith("/icon.svg");
    await page.evaluate("look('hidden')");
    await slingNew(project, "B1");
    await until("document.title.startsWith('(1)')");
    expect(await icon()).toEndWith("/icon-mark.svg");
    expect((await fetch(`${live.origin}/icon-mark.svg`)).status).toBe(200);
    await page.evaluate("look('visible')");
    await page.getByText("1 thing needed you while the page was out of sight.").waitFor();
    await page.getByRole("button", { name: "Tell me next time" }).click();
    await page.evaluate("look('hidden')");
    await slingNew(project, "B2");
    await until("window.told.length > 0");
    const told = await page.evaluate<string[]>("window.told");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^Overstory needs you: .*Second/);
    // What was told, or seen, is not told again, however often the page is left.
    await page.evaluate("look('visible')");
    await page.evaluate("look('hidden')");
    for (const { id } of await decisions()) await project.json("decide", String(id), "yes");
    await until("document.querySelector('link[rel=icon]').href.endsWith('/icon.svg')");
    expect(await page.evaluate<string[]>("window.told")).toHaveLength(1);
    await page.evaluate("look('visible')");
    expect(live.complaints).toEqual([]);
  }, 60_000);

  const decisions = async (): Promise<readonly { readonly id: unknown }[]> =>
    (await project.json("inbox", "--peek")).decisions as readonly { readonly id: unknown }[];
});
