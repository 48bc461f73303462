import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { letGo, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { freePort } from "../../testkit/web.ts";
import { browserProgram, startBrowser } from "./browser.ts";

const scenario = `
- when: { agent: b1 }
  do:
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, "Which database? <img src=x onerror=alert(1)>", --body, Both would do, --payload, '{"options":["Postgres","SQLite"]}']
    - say: I wait for the answer.
- do:
    - shell: touch "$HOME/running-\${agent}"
    - waitFor: { file: "\${env.HOME}/go" }
    - say: done
`;

/** Runs in the page, so it is text: the tests know no types of a browser. */
const seriousFindings = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => location.pathname + " " + id + ": " + nodes[0].html.slice(0, 200)))`;
const rowNames = `[...document.querySelectorAll("[role=row][aria-label]")].map((row) => row.getAttribute("aria-label"))`;

/** The letter behind `g` that opens each page of the rail, and the title there. No run has an objective here. */
const titles: Readonly<Record<string, string>> = {
  o: "Overview",
  c: "Coordinator",
  f: "Fleet",
  m: "Merge",
  r: "Review",
  l: "Mail",
  t: "Tasks",
  u: "Runs",
  b: "Costs",
  h: "Health",
  s: "Settings",
};

if (browserProgram === undefined)
  console.error("SKIPPED: the page is not tested, because no Chromium is here (scripts/ci-deps installs it)");

/** One server with a live scripted run, one browser, one page: what a person meets. */
describe.skipIf(browserProgram === undefined)("the page in a real browser", () => {
  let project: TestProject;
  let page: Page;
  let origin: string;
  let port: string;
  const complaints: string[] = [];
  let closeBrowser: () => Promise<void>;

  const serve = async (): Promise<string> => {
    const { loginUrl } = await project.json("serve", "--detach", "--port", port);
    return String(loginUrl);
  };

  beforeAll(async () => {
    project = await makeProject({ scenario });
    await slingNew(project, "B1");
    await slingNew(project, "B2");
    await untilAgent(project, "b2", "in_turn");
    port = String(await freePort());
    origin = `http://127.0.0.1:${port}`;
    const { context, close } = await startBrowser();
    closeBrowser = close;
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
    });
    await page.goto(await serve());
    await page.waitForSelector("[data-connection=live]");
  });

  afterAll(async () => {
    await closeBrowser?.();
    await project?.[Symbol.asyncDispose]();
  });

  test("the code in the address lets the browser in and leaves the address; the question waits in the top bar", async () => {
    expect(page.url()).not.toContain("code=");
    await page.getByText("1 needs you: decision").waitFor();
    // What an agent wrote is shown as it is, and is never HTML.
    await page.getByText("b1 asks: Which database? <img src=x onerror=alert(1)>").first().waitFor();
    expect(await page.locator("img").count()).toBe(0);
  });

  test("every page of the rail opens by its keys, with one title, and axe finds nothing serious", async () => {
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    const found: string[] = [];
    for (const [letter, title] of Object.entries(titles)) {
      await page.keyboard.press("g");
      await page.keyboard.press(letter);
      // The page that is left has a title too, and the next one comes in a chunk of its own.
      await page.locator("h1", { hasText: title }).waitFor();
      expect(await page.locator("h1").count()).toBe(1);
      await page.waitForTimeout(150);
      // As an extension does it: the policy of the page lets no foreign script in.
      await page.evaluate(axe);
      const serious = await page.evaluate<string[]>(seriousFindings);
      found.push(...serious);
    }
    expect(found).toEqual([]);
  });

  test("the fleet is worked by keyboard alone: move, look beside, choose, and the focus is always seen", async () => {
    await page.goto(`${origin}/fleet`);
    await page.locator("[role=row][aria-label=b2]").waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    const outline = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle");
    expect(outline).not.toBe("none");
    await page.keyboard.press("o");
    await page.getByRole("complementary").getByText("Runs on").waitFor();
    expect(page.url()).toContain("peek=agent:");
    await page.keyboard.press("Space");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("1 selected").waitFor({ state: "detached" });
    await page.goBack();
  });

  test("the palette finds an agent, and the sheet lists the keys", async () => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("@b2");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/agents/b2**");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("In every list").waitFor();
    await page.keyboard.press("Escape");
  });

  test("a change that the server refuses is said in a toast, with its reason and a way to try again", async () => {
    await page.goto(`${origin}/`);
    await page.getByText("1 needs you: decision").waitFor();
    await page.route("**/api/decisions/**", (route) =>
      route.fulfill({ status: 409, json: { error: { code: "ALREADY", message: "it was answered 2 s ago" } } }),
    );
    await page.getByRole("button", { name: "SQLite" }).first().click();
    await page.getByRole("alert").getByText("it was answered 2 s ago (409)").waitFor();
    await page.unroute("**/api/decisions/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Nothing needs you").first().waitFor();
  });

  test("on a phone nothing scrolls sideways", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ["/", "/fleet", "/fleet?view=table", "/fleet?peek=agent:b2"]) {
      await page.goto(origin + path);
      await page.locator("h1").first().waitFor();
      const width = await page.evaluate<number>("document.documentElement.scrollWidth");
      expect([path, width]).toEqual([path, 390]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("after the server was away the page says so, comes back, and shows each agent once", async () => {
    await page.goto(`${origin}/fleet`);
    await page.locator("[role=row][aria-label=b2]").waitFor();
    await project.json("serve", "stop");
    await page.locator("[data-connection=reconnecting]").waitFor();
    await slingNew(project, "B3");
    await serve();
    await page.locator("[data-connection=live]").waitFor();
    await page.locator("[role=row][aria-label=b3]").waitFor();
    const names = await page.evaluate<string[]>(rowNames);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    expect(names).toContain("b2");
    await letGo(project);
  });

  test("no page broke, and none met its content policy", () => {
    expect(complaints).toEqual([]);
  });
});
