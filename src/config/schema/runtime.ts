import { optionalText, text } from "./key.ts";

/** Which coding-agent program runs. */
export const runtimeKeys = {
  "runtime.default": text({
    doc:
      "Runtime of agents for which nothing else is said: `claude`, or `scripted`, which follows a written scenario and " +
      "calls no model (docs/scripted-agent.md).",
    default: "claude",
  }),
  "runtime.capabilities.*": optionalText({ doc: "Runtime of the agents of one capability." }),
};
