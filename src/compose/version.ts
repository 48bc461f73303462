import { version as released } from "../../package.json" with { type: "json" };

export const version: string = released;
