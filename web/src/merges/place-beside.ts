import type { Merge } from "../api/types.ts";

/**
 * The priority by which an entry lands right before or behind another one. Of equal ones the older lands first. Without a
 * priority the words say why it cannot, or need not, be moved there.
 */
export function placeBeside(
  moved: Merge,
  over: Merge,
  isBehind: boolean,
): { readonly words: string; readonly priority?: number } {
  const [first, second] = isBehind ? [over, moved] : [moved, over];
  if (first.waitsFor.includes(second.id)) return { words: `#${first.id} waits for #${second.id}` };
  const step = first.id < second.id ? 0 : isBehind ? 1 : -1;
  const priority = over.priority + step;
  if (priority < 0 || priority > 4) {
    const most = priority < 0 ? "most" : "least";
    return {
      words: `#${over.id} has the ${most} urgent priority and was queued ${priority < 0 ? "earlier" : "later"}`,
    };
  }
  const words = `Priority ${priority}: #${first.id} lands before #${second.id}`;
  return priority === moved.priority
    ? { words: `#${first.id} already lands before #${second.id}` }
    : { words, priority };
}
