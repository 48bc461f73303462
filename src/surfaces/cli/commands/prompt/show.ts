import { invalid } from "../../../../domain/refusal.ts";
import { no, ok } from "../../../../domain/result.ts";
import { renderManifest } from "../../../../domain/role/render/manifest.ts";
import { visibleText } from "../../../../domain/text/visible.ts";
import type { App } from "../../app.ts";
import type { Call, Handler } from "../../command.ts";
import { text } from "../../given.ts";
import { roleNamed } from "./roles-meant.ts";

export const show: Handler = async ({ app, args, flags }) => {
  if (flags.manifest === true) {
    const manifest = renderManifest();
    return ok({ json: { manifest }, text: JSON.stringify(manifest, null, 2) });
  }
  const found = await wanted(app, args, flags);
  if (!found.ok) return found;
  // A text that is to be saved as a file is printed byte by byte.
  const isWhole = "role" in found.value && !("version" in found.value);
  return ok({ json: { ...found.value }, text: isWhole ? found.value.text : visibleText(found.value.text) });
};

async function wanted(app: App, args: Call["args"], flags: Call["flags"]) {
  const agent = text(flags.agent);
  if (agent !== undefined) return app.call("prompt.showGiven", { agent });
  const version = text(flags.kept);
  if (version !== undefined) return app.call("prompt.showKept", { version });
  const role = roleNamed(args)?.capability;
  if (role === undefined) return no(invalid("role", "must be named, or an agent with --agent"));
  return flags.text === true ? app.call("prompt.begin", { role }) : app.call("prompt.show", { role });
}
