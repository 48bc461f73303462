import { writeFileSync } from "node:fs";
import { landingWorld } from "./landing-world.ts";

/** Lands branches that nobody named files for, in one train. The log is emptied when the work begins. */
const [count = "0", log = ""] = process.argv.slice(2);
await using world = await landingWorld();
for (let at = 0; at < Number(count); at++) {
  world.branch(`b${at}`, () => world.write(world.root, `b${at}.txt`, "x\n"));
  await world.enqueue(`b${at}`);
}
writeFileSync(log, "");
await world.work();
const landed = await world.store.read((tx) => tx.merges.list({ statuses: ["merged"] }));
if (landed.length !== Number(count)) throw new Error(`${landed.length} of ${count} branches landed`);
