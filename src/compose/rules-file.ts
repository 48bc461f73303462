import { join } from "node:path";

/** Where the rules lie by which an agent's tools are guarded. */
export const rulesFile = (dir: string, agentName: string): string => join(dir, "agents", agentName, "guard.json");
