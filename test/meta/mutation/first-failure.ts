import * as fc from "fast-check";

// That a test fails is enough: nobody reads the shortest history in which it does.
fc.configureGlobal({ endOnFailure: true });
