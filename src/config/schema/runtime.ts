import { boolean, choice, milliseconds, optionalText, text } from "./key.ts";
import { variableName, webAddress } from "./shape.ts";

const terminals = "agents in a terminal";
const questions = "single questions to a model";
const pi = "the Pi runtime";
const models = "choosing models";

/** Which coding-agent program runs, with which model, at whose service. */
export const runtimeKeys = {
  "runtime.default": text({
    doc:
      "Runtime of agents for which nothing else is said: `claude`, or `scripted`, which follows a written scenario and " +
      "calls no model (docs/scripted-agent.md).",
    default: "claude",
  }),
  "runtime.capabilities.*": optionalText({ doc: "Runtime of the agents of one capability." }),
  "runtime.printCommand": optionalText({
    doc: "Runtime for single questions to a model; otherwise the default one.",
    later: questions,
  }),
  "runtime.pi.provider": text({
    doc: "Provider put before a bare model name for Pi.",
    default: "anthropic",
    later: pi,
  }),
  "runtime.pi.modelMap.*": optionalText({
    doc: "Model that an alias stands for when Pi runs it.",
    entries: {
      opus: "anthropic/claude-opus-4-6",
      sonnet: "anthropic/claude-sonnet-4-6",
      haiku: "anthropic/claude-haiku-4-5",
    },
    later: pi,
  }),
  "runtime.shellInitDelayMs": milliseconds({
    doc: "Pause before typing into a new terminal session, for slow shell start-up files.",
    default: 0,
    later: terminals,
  }),
  "runtime.claudeHeadlessByDefault": boolean({
    doc: "Whether Claude agents run turn by turn without a terminal.",
    default: true,
    later: terminals,
  }),

  "models.*": optionalText({
    doc: "Model of one capability: an alias, a model name, or provider/model.",
    later: models,
  }),

  "providers.*.type": choice(["native", "gateway"], {
    doc: "Whether a provider is the runtime's own or a gateway with an address and a token.",
    default: "native",
    entries: { anthropic: "native" },
    later: models,
  }),
  "providers.*.baseUrl": optionalText({ doc: "Address of a gateway.", shape: webAddress, later: models }),
  "providers.*.authTokenEnv": optionalText({
    doc: "Environment variable that holds a gateway's token.",
    shape: variableName,
    later: models,
  }),
};
