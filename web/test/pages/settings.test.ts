import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, phoneWidths, seriousFindings } from "../live-page.ts";

const config = `
# A word that must stay.
merge:
  batchSize: 4
`;

describe.skipIf(browserProgram === undefined)("the page Settings", () => {
  let project: TestProject;
  let live: LivePage;
  /** After a change of settings the engine begins anew, and the server is away for a moment. */
  const open = async (path: string): Promise<void> => {
    const goes = () =>
      live.page.goto(live.origin + path).then(
        () => true,
        () => false,
      );
    await project.until(`${path} was served`, goes);
    await live.page.getByRole("heading", { name: "Settings" }).waitFor();
  };
  const text = (): string => readFileSync(join(project.root, ".overstory", "config.yaml"), "utf8");

  beforeAll(async () => {
    project = await makeProject({ scenario: "done", config });
    live = await openPage(project);
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("a wrong value is said at its field and is not saved; a right one is shown as a difference and saved by key", async () => {
    const { page } = live;
    await open("/settings/merge");
    const field = page.getByLabel("merge.batchSize", { exact: true });
    await field.fill("8.5");
    await page.getByText("merge.batchSize must be a whole number").waitFor();
    await page.getByRole("button", { name: "Save: 1 problem" }).waitFor();
    await field.fill("7");
    await page.getByText("- merge.batchSize: 4").waitFor();
    await page.getByText("+ merge.batchSize: 7").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    // A page that was opened a moment ago may not be connected yet, and would say so instead of saving.
    await page.locator("button:not([aria-disabled])", { hasText: "Save 1 change" }).waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText("1 setting saved in .overstory/config.yaml.").waitFor();
    expect(text()).toContain("batchSize: 7");
    expect(text()).toContain("# A word that must stay.");
  });

  test("what only the server can judge is said at its field too", async () => {
    const { page } = live;
    await open("/settings/project");
    await page.getByLabel("project.canonicalBranch", { exact: true }).fill("no-such-branch");
    await page.locator("button:not([aria-disabled])", { hasText: "Save 1 change" }).waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText(/project\.canonicalBranch .*is not a branch of this repository/).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
  });

  test("a file that changed outside is not overwritten: both versions are shown, and a person decides", async () => {
    const { page } = live;
    await open("/settings/merge");
    const field = page.getByLabel("merge.batchSize", { exact: true });
    await field.fill("9");
    appendFileSync(join(project.root, ".overstory", "config.yaml"), "\nbudgets:\n  run:\n    usd: 12\n");
    // The save before has begun the engine anew: until the page is connected again it saves nothing, and says so.
    await project.until("the page says what happened", async () => {
      await page.keyboard.press("Control+s");
      await page.waitForTimeout(500);
      return page.getByText(".overstory/config.yaml changed outside. Nothing was written").isVisible();
    });
    expect(text()).toContain("batchSize: 7");
    await page.getByRole("button", { name: "Keep mine, then save" }).click();
    await project.until("the other value was saved", async () => {
      await page.keyboard.press("Control+s");
      await page.waitForTimeout(300);
      return text().includes("batchSize: 9");
    });
    expect(text()).toContain("usd: 12");
  });

  test("keys of all sections are found by words", async () => {
    const { page } = live;
    await open("/settings");
    await page.keyboard.press("/");
    await page.keyboard.type("budgets.run.usd");
    const field = page.getByLabel("budgets.run.usd", { exact: true });
    await field.waitFor();
    expect(await field.inputValue()).toBe("12");
  });

  test("appearance is kept in this browser and counts at once", async () => {
    const { page } = live;
    await open("/settings/appearance");
    await page.getByRole("button", { name: "Dark", exact: true }).click();
    await page.waitForSelector("html[data-theme=dark]");
    await page.getByRole("button", { name: "Reduced" }).click();
    await page.waitForSelector("html[data-motion=reduced]");
    await page.reload();
    await page.waitForSelector("html[data-theme=dark][data-motion=reduced]");
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Light", exact: true }).click();
  });

  test("a test notification says that no channel is set", async () => {
    const { page } = live;
    await open("/settings/notify");
    await page.getByRole("button", { name: "Send a test notification" }).click();
    await page.getByText("No channel is set.").waitFor();
  });

  test("a token is made for a viewer, lets a program look but not act, and is worth nothing once revoked", async () => {
    const { page, origin } = live;
    await open("/settings/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    const secret = (await page.getByRole("status").locator("code").first().textContent()) ?? "";
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json", "x-overstory": "1" };
    const look = (): Promise<number> => fetch(`${origin}/api/me`, { headers }).then(({ status }) => status);
    expect(await look()).toBe(200);
    const act = await fetch(`${origin}/api/keys`, { method: "POST", headers, body: "{}" });
    expect(act.status).toBe(403);
    expect(await seriousFindings(page)).toEqual([]);
    const row = page.locator("[role=row][aria-label^='token ']");
    await row.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke token" }).click();
    await row.waitFor({ state: "detached" });
    expect(await look()).toBe(401);
  });

  test("a viewer sees all of it, and every change is off with its reason", async () => {
    const { page } = live;
    const { url } = await project.json("serve", "login", "--role", "viewer");
    await page.goto(String(url));
    await page.locator("[data-connection=live]").waitFor();
    await open("/settings/tokens");
    await page.locator("[role=row][aria-label^='session ']").first().waitFor();
    const create = page.getByRole("button", { name: "Create token" });
    expect(await create.getAttribute("aria-disabled")).toBe("true");
    await create.focus();
    await page.getByText("Your token can look, not act.").first().waitFor();
    await open("/settings/merge");
    await page.getByLabel("merge.batchSize", { exact: true }).fill("3");
    expect(await page.getByRole("button", { name: "Save 1 change" }).getAttribute("aria-disabled")).toBe("true");
  });

  test("on a phone nothing scrolls sideways, and no page broke or met its content policy", async () => {
    const { page, origin, complaints } = live;
    const paths = ["/settings/appearance", "/settings/merge", "/settings/tokens"].map((path) => origin + path);
    expect(await phoneWidths(page, paths)).toEqual([390, 390, 390]);
    expect(complaints).toEqual([]);
  });
});
