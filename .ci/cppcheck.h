/* jansson's loops for cppcheck, which does not see the system's headers. */
#define json_array_foreach(array, index, value)                                \
	for (index = 0; (value = json_array_get(array, index)) != 0; index++)
#define json_object_foreach(object, key, value)                                \
	for (key = json_first(object);                                         \
	     (value = json_object_get(object, key)) != 0;                      \
	     key = json_next(object, key))
