import type { Scene } from "../scene.ts";
import { background, crash, interrupt, lost, mangled, steer, takeover } from "./endings.ts";
import { silence, spending } from "./limits.ts";
import { provider } from "./provider.ts";
import { work } from "./work.ts";

/** The longest first, so that none of them is left over at the end. */
export const scenes: readonly Scene[] = [
  provider,
  silence,
  work,
  crash,
  lost,
  interrupt,
  takeover,
  steer,
  background,
  mangled,
  spending,
];
