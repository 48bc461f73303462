/** Replaced at build time. Running from source is neither a release nor a test build. */
declare const OV_TEST_BUILD: boolean | undefined;

/** Only a test build listens to OVERSTORY_TEST_* variables; a release contains no trace of them. */
export const isTestBuild: boolean = typeof OV_TEST_BUILD !== "undefined" && OV_TEST_BUILD === true;
