/** `npm run bench -- <name>`: prints ratios against a floor measured in the same run. */
const benches: Record<string, () => Promise<{ main(): Promise<void> }>> = {
  cli: () => import("./cli.ts"),
  dispatch: () => import("./dispatch.ts"),
  sling: () => import("./sling.ts"),
  sandbox: () => import("./sandbox.ts"),
  snapshot: () => import("./snapshot.ts"),
  status: () => import("./status.ts"),
  dashboard: () => import("./dashboard.ts"),
  idle: () => import("./idle.ts"),
  fleet: () => import("./fleet.ts"),
  merge: () => import("./merge.ts"),
  gates: () => import("./gates.ts"),
  guard: () => import("./guard.ts"),
  clean: () => import("./clean.ts"),
  lists: () => import("./lists.ts"),
  retention: () => import("./retention.ts"),
  web: () => import("./web.ts"),
  page: () => import("./page.ts"),
};

async function run(names: readonly string[]): Promise<number> {
  const chosen = names.length === 0 ? Object.keys(benches) : names;
  for (const name of chosen) {
    const load = benches[name];
    if (load === undefined) {
      console.error(`no benchmark called ${name}; there are: ${Object.keys(benches).join(", ")}`);
      return 2;
    }
    await (await load()).main();
  }
  return 0;
}

run(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
