/** Why a refused answer ended, in the words of `finishReason` in events. */
export const refusedFinish = "content_filter";
