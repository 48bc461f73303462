import type { NotifyTest } from "../../usecases/operator/test-notification.ts";

/** How a test of the notifications went, by channel. */
export const notifyTestView = ({ results, unavailable, bell }: NotifyTest) => ({
  channels: results.map(({ channel, problem }) => ({ channel, sent: problem === null, problem })),
  unavailable,
  bell,
});
