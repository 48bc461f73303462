import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { startBrowser } from "./browser.ts";
import { startFixture } from "./fixture-server.ts";
import { kept, shownPages } from "./shown-pages.ts";

/**
 * `npm run ui:shots`: one picture of every page in both themes and on a phone, into `docs/ui/`. With a folder of its own, all
 * forms of the pages; with names behind it, only those that begin so.
 */

const target = process.argv[2] ?? resolve(import.meta.dir, "../../docs/ui");
const forms = [
  { name: "light", theme: "light", width: 1280, height: 800 },
  { name: "dark", theme: "dark", width: 1280, height: 800 },
  { name: "phone", theme: "light", width: 390, height: 844 },
];

const wanted = process.argv.slice(3);
const isWanted = (name: string): boolean =>
  process.argv[2] === undefined
    ? kept.includes(name)
    : wanted.length === 0 || wanted.some((each) => name.startsWith(each));

mkdirSync(target, { recursive: true });
const server = await startFixture();
const { context, close } = await startBrowser();
const page = await context.newPage();
page.on("console", (message) => message.type() === "error" && console.error("console:", message.text()));
page.on("pageerror", (error) => console.error("page:", error.message));
for (const { name: form, theme, width, height } of forms) {
  await page.setViewportSize({ width, height });
  for (const [name, path] of Object.entries(shownPages)) {
    if (!isWanted(name)) continue;
    await page.goto(server.url);
    await page.evaluate(
      (settings) => localStorage.setItem("overstory.settings", settings),
      JSON.stringify({ theme, density: form === "phone" ? "touch" : "default" }),
    );
    await page.goto(server.url + path);
    await page.waitForSelector("h1");
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(target, `${name}-${form}.png`) });
  }
}
await close();
server.stop();
