/* 5*sin(log(x)) and its derivative as a C extension's METH_FASTCALL functions, with the checks that Python asks for. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

static inline int argument(PyObject *const *args, Py_ssize_t nargs, double *x) {
    if (nargs != 1) {
        PyErr_SetString(PyExc_TypeError, "one argument expected");
        return 0;
    }
    *x = PyFloat_CheckExact(args[0]) ? PyFloat_AS_DOUBLE(args[0]) : PyFloat_AsDouble(args[0]);
    if (*x == -1.0 && PyErr_Occurred()) return 0;
    if (*x <= 0.0) {
        PyErr_SetString(PyExc_ValueError, "math domain error");
        return 0;
    }
    return 1;
}

static PyObject *value(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    double x;
    if (!argument(args, nargs, &x)) return NULL;
    return PyFloat_FromDouble(5.0 * sin(log(x)));
}

static PyObject *derivative(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    double x;
    if (!argument(args, nargs, &x)) return NULL;
    return PyFloat_FromDouble(5.0 * cos(log(x)) / x);
}

static PyMethodDef methods[] = {
    {"value", (PyCFunction)(void (*)(void))value, METH_FASTCALL, "5*sin(log(x))"},
    {"derivative", (PyCFunction)(void (*)(void))derivative, METH_FASTCALL, "5*cos(log(x))/x"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "call", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_call(void) { return PyModule_Create(&module); }
