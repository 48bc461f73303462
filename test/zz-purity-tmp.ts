import { leaves, shortestLine } from "/work/main/testkit/leaves.ts";
import { makeProject } from "/work/main/testkit/project.ts";
const project = await makeProject();
const samples = { tasks: "T1", groups: "both", messages: "x", agents: "operator", runs: "run-1", configKeys: "mail.leaseMs", files: "README.md" };
for (const leaf of leaves()) {
  const name = leaf.path.join(" ");
  if (["engine install","watch"].includes(name)) continue;
  const t = performance.now();
  const words = shortestLine(leaf, samples);
  const a = await Promise.race([project.ovWith({stdin:"words\n"}, ...words, ...(name.endsWith(" ask")?["--timeout","1"]:[]), "--json"), Bun.sleep(8000).then(()=>undefined)]);
  const ms = Math.round(performance.now()-t);
  if (ms>1500 || a===undefined || a.out.split("\n").filter(Boolean).length!==1) console.log(name, ms, a?.out.slice(0,200), a?.err.slice(0,200));
}
await project[Symbol.asyncDispose]();
