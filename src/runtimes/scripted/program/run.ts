import { runScriptedAgent } from "./main.ts";

void runScriptedAgent(process.argv.slice(2), process.env).then((code) => process.exit(code));
