/** Moves a checkout and dies by SIGKILL when it reaches a kill-point for the n-th time: `root scratch from to point n`. */
import { gitMerging } from "../src/host/git/merging.ts";

const [root = "", scratch = "", from = "", to = "", point = "", nth = "1"] = process.argv.slice(2);
let reached = 0;
const merging = gitMerging(root, { poolDir: `${scratch}/pool`, scratch });
const answer = await merging.moveCheckout({
  checkout: root,
  from,
  to,
  reach: (name) => {
    if (name === point && ++reached === Number(nth)) process.kill(process.pid, "SIGKILL");
  },
});
process.stdout.write(JSON.stringify(answer));
