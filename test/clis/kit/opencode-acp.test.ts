import { conformance } from "../../../testkit/conformance/kit.ts";

conformance("opencode-acp");
