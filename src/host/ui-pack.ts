/** The page inside of the compiled program. `scripts/build` makes the pack before it compiles; in a checkout this file is never loaded. */
import pack from "../../node_modules/.cache/web/ui.pack" with { type: "file" };

export default pack;
